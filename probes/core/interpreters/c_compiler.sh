# A program in C can be compiled and run.
. "${0%/*}/../../_runner.sh"

CAPABILITY=interpreters_c_compiler

exercise() {
    command -v cc >/dev/null || unavailable "there is no C compiler"
    scratch compiled
    echo 'int main(void) { return 7; }' | cc -x c -o "$SCRATCH" - || exit
    "$SCRATCH"
    code=$?
    rm "$SCRATCH"
    [ $code -eq 7 ] && echo "compiled and ran a program"
}

main "$@"
