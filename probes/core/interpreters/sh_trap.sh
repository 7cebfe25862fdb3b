# The shell catches signals.
. "${0%/*}/../../_runner.sh"

CAPABILITY=interpreters_sh_trap

exercise() {
    got=$(sh -c 'trap "echo caught; exit 0" TERM; kill -TERM $$; exit 1') || exit
    [ "$got" = caught ] && echo "caught TERM"
}

main "$@"
