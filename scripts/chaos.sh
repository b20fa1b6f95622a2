#!/usr/bin/env bash
# Kills real servers again and again and checks that nothing is lost. SEED and ROUNDS come from the environment.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
. ./env.sh
exec cargo test --workspace --locked --test chaos -- --nocapture --test-threads=1 "$@"
