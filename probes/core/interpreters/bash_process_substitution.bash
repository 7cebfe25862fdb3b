# Bash passes a program's output as a file (process substitution).
. "${0%/*}/../../_runner.sh"

CAPABILITY=interpreters_bash_process_substitution

exercise() {
    diff <(printf 'a\nb\n') <(printf 'a\nb\n') && echo "diff read from two programs"
}

main "$@"
