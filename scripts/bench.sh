#!/usr/bin/env bash
# Builds the release binary and prints its benchmark figures. Arguments go to `millstream bench`.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
. ./env.sh
cargo build --release --locked --bin millstream
exec "$CARGO_TARGET_DIR/release/millstream" bench "$@"
