# Bash opens a connection by itself (/dev/tcp), and gets an error when nothing listens.
. "${0%/*}/../../_runner.sh"

CAPABILITY=interpreters_bash_network

exercise() {
    local got
    got=$( (exec 3<>/dev/tcp/127.0.0.1/1) 2>&1)
    case $got in
    *refused*) echo "nobody listens on port 1" ;;
    *) echo "$got" && exit 1 ;;
    esac
}

main "$@"
