#!/usr/bin/env bash
# Everything that must hold before a change lands: lint, build, all tests and SQL suites. Each phase says how long it took.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
. ./env.sh
. scripts/phase.sh

scripts/lint.sh
phase build cargo test --workspace --locked --no-run
phase tests cargo test --workspace --locked --no-fail-fast
printf '\n== all phases ok, %ss\n' "$SECONDS"
