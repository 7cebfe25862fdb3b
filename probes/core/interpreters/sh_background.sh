# The shell runs a job in the background and waits for it.
. "${0%/*}/../../_runner.sh"

CAPABILITY=interpreters_sh_background

exercise() {
    (exit 7) &
    wait $!
    [ $? -eq 7 ] && echo "a job's exit code came back"
}

main "$@"
