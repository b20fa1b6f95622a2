#!/usr/bin/env bash
# Tidy rules, dependency arrows, formatting and clippy; anything found is an error.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
. ./env.sh
. scripts/phase.sh

clippy() {
    # An empty wrapper is how .ci/run says that it shares no target folder with another checkout.
    if [ "${RUSTC_WORKSPACE_WRAPPER-unset}" = "" ]; then
        cargo clippy --workspace --all-targets --locked -- -D warnings
    else
        RUSTC_WORKSPACE_WRAPPER="$PWD/scripts/clippy-here" cargo check --workspace --all-targets --locked
    fi
}

phase format cargo fmt --all --check
phase tidy cargo xtask check
phase clippy clippy
