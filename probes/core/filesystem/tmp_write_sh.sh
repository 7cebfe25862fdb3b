# A file can be made, read back and removed in the temporary directory, by the shell.
. "${0%/*}/../../_runner.sh"

CAPABILITY=filesystem_tmp_write

exercise() {
    scratch tmp-write
    echo capability >"$SCRATCH" || exit
    read -r back <"$SCRATCH" && [ "$back" = capability ] && rm "$SCRATCH" || exit
    echo "wrote and removed $SCRATCH"
}

main "$@"
