#!/usr/bin/env bash
# Builds the binary that the tests use and starts the demo with it. Arguments go to `millstream demo`.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
. ./env.sh
cargo build --locked --bin millstream
exec "$CARGO_TARGET_DIR/debug/millstream" demo "$@"
