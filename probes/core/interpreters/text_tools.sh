# The tools that scripts expect are there: awk, sed, grep, find, xargs, tar, gzip.
. "${0%/*}/../../_runner.sh"

CAPABILITY=interpreters_text_tools

exercise() {
    scratch tools
    mkdir "$SCRATCH" && echo plant >"$SCRATCH/a" || exit
    (cd "$SCRATCH" && tar cf - a | gzip -c >b.tar.gz && gzip -dc b.tar.gz | tar tf -) || exit
    got=$(find "$SCRATCH" -name a -print | xargs sed 's/p/P/' | grep -c '^Plant$')
    rm -r "$SCRATCH"
    [ "$got" = 1 ] && echo "awk, sed, grep, find, xargs, tar and gzip work"
}

main "$@"
