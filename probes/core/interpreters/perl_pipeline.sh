# Perl reads from a program and filters files in place.
. "${0%/*}/../../_runner.sh"

CAPABILITY=interpreters_perl_pipeline

exercise() {
    command -v perl >/dev/null || unavailable "there is no perl"
    scratch perl
    echo plant >"$SCRATCH"
    perl -pi -e 's/p/P/' "$SCRATCH" || exit
    got=$(perl -e 'open(my $in, "-|", "cat", $ARGV[0]) or die $!; print <$in>' "$SCRATCH")
    rm "$SCRATCH"
    [ "$got" = Plant ] && echo "perl -pi and a pipe work"
}

main "$@"
