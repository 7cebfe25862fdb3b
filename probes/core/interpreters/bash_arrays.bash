# Bash has arrays, patterns and arithmetic.
. "${0%/*}/../../_runner.sh"

CAPABILITY=interpreters_bash_arrays

exercise() {
    local -A legs=([bird]=2 [cat]=4)
    local words=(one two three)
    [[ ${#words[@]} -eq 3 && ${legs[cat]} -eq 4 && ${words[2]} =~ ^t.*e$ ]] || exit
    echo "arrays and patterns work"
}

main "$@"
