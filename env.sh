# shellcheck shell=sh
# What every entry point needs in its environment. Sourced, never run: `. ./env.sh`.

# Build products live outside the checkout, so that a fresh clone starts with its dependencies already built.
: "${CARGO_TARGET_DIR:=${XDG_CACHE_HOME:-$HOME/.cache}/millstream/target}"
export CARGO_TARGET_DIR

case ":$PATH:" in
*":${CARGO_HOME:-$HOME/.cargo}/bin:"*) ;;
*) PATH="${CARGO_HOME:-$HOME/.cargo}/bin:$PATH" ;;
esac
export PATH

: "${RUST_BACKTRACE:=1}"
export RUST_BACKTRACE

# RocksDB is Debian's library; its bindings are made with libclang, which needs the compiler's own headers.
if command -v gcc >/dev/null 2>&1; then
    : "${ROCKSDB_LIB_DIR:=$(realpath "$(dirname "$(gcc -print-file-name=librocksdb.so)")")}"
    : "${BINDGEN_EXTRA_CLANG_ARGS:=-I$(gcc -print-file-name=include)}"
    export ROCKSDB_LIB_DIR BINDGEN_EXTRA_CLANG_ARGS
fi
