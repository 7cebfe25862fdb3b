# A program can be started and its output read, by the shell.
. "${0%/*}/../../_runner.sh"

CAPABILITY=process_spawn

exercise() {
    [ "$(/bin/echo hello)" = hello ] && echo "echo said hello"
}

main "$@"
