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
