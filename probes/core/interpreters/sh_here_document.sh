# The shell feeds a program from its own text, which needs a temporary file or a pipe.
. "${0%/*}/../../_runner.sh"

CAPABILITY=interpreters_sh_here_document

exercise() {
    got=$(
        cat <<END
$((6 * 7))
END
    ) || exit
    [ "$got" = 42 ] && echo "a here-document reached cat"
}

main "$@"
