# The shell runs a pipeline of programs.
. "${0%/*}/../../_runner.sh"

CAPABILITY=interpreters_sh_pipeline

exercise() {
    got=$(printf 'b\na\nb\n' | sort | uniq -c | awk '{ print $1 $2 }' | tr '\n' ' ') || exit
    [ "$got" = "1a 2b " ] && echo "printf | sort | uniq | awk | tr"
}

main "$@"
