#!/usr/bin/env bash
# Installs what is missing to build (`setup.sh`) or to build and test (`setup.sh test`). Silent and quick when all is there.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
. ./env.sh

have() { command -v "$1" >/dev/null 2>&1; }

if ! have cargo; then
    echo "setup: Rust is missing: install rustup with its stable toolchain (https://rustup.rs), then run this again" >&2
    exit 1
fi

packages=()
have cc || packages+=(gcc)
[ -e /usr/include/stdlib.h ] || packages+=(libc6-dev)
have make || packages+=(make)
[ -e /usr/include/rocksdb/c.h ] || packages+=(librocksdb-dev)
compgen -G "/usr/lib/*/libclang-[0-9]*.so*" >/dev/null || packages+=(libclang1-14)
[ -e /etc/ssl/certs/ca-certificates.crt ] || [ -e /etc/pki ] || packages+=(ca-certificates)
if [ "${1:-}" = test ]; then
    have git || packages+=(git)
    have psql || packages+=(postgresql-client)
fi

if [ ${#packages[@]} -gt 0 ]; then
    as_root=()
    if [ "$(id -u)" != 0 ]; then
        as_root=(sudo)
        [ -t 0 ] || as_root+=(-n)
    fi
    manual="setup: missing: ${packages[*]}; as root run: apt-get install -y --no-install-recommends ${packages[*]}"
    if ! have apt-get || { [ "$(id -u)" != 0 ] && ! "${as_root[@]}" true 2>/dev/null; }; then
        echo "$manual" >&2
        exit 1
    fi
    echo "setup: installing ${packages[*]}"
    apt=("${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -qq -o DPkg::Lock::Timeout=300)
    log=$(mktemp)
    trap 'rm -f "$log"' EXIT
    if ! { "${apt[@]}" update && "${apt[@]}" install -y --no-install-recommends "${packages[@]}"; } >"$log" 2>&1; then
        tail -n 20 "$log" >&2
        echo "$manual" >&2
        exit 1
    fi
fi

if [ "${1:-}" = test ]; then
    bin="$(rustc --print sysroot)/bin"
    components=()
    [ -x "$bin/rustfmt" ] || components+=(rustfmt)
    [ -x "$bin/cargo-clippy" ] || components+=(clippy)
    if [ ${#components[@]} -gt 0 ] && ! { have rustup && rustup component add "${components[@]}"; }; then
        echo "setup: missing: ${components[*]}; run: rustup component add ${components[*]}" >&2
        exit 1
    fi
fi
