# Bash talks with a program in both directions (coproc).
. "${0%/*}/../../_runner.sh"

CAPABILITY=interpreters_bash_coprocess

exercise() {
    local pid line
    coproc ANSWER { read -r word && echo "${word^^}"; }
    pid=$ANSWER_PID
    exec {to}>&"${ANSWER[1]}" {from}<&"${ANSWER[0]}"
    echo hello >&"$to"
    read -r line <&"$from"
    wait "$pid"
    [ "$line" = HELLO ] && echo "a coprocess answered"
}

main "$@"
