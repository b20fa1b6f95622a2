# shellcheck shell=bash
# `phase NAME COMMAND...` runs a command under a heading and says how long it took. A failure ends the script. Sourced.

phase() {
    local name=$1 started=$SECONDS status=0
    shift
    printf '\n== %s: %s\n' "$name" "$*"
    "$@" || status=$?
    if [ "$status" != 0 ]; then
        printf '== %s: FAILED after %ss (exit code %s)\n' "$name" "$((SECONDS - started))" "$status"
        exit "$status"
    fi
    printf '== %s: ok, %ss\n' "$name" "$((SECONDS - started))"
}
