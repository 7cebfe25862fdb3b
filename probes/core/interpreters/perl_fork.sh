# Perl copies itself and reads what the copy writes.
. "${0%/*}/../../_runner.sh"

CAPABILITY=interpreters_perl_fork

exercise() {
    command -v perl >/dev/null || unavailable "there is no perl"
    perl -e '
        pipe(my $read, my $write) or die $!;
        defined(my $pid = fork) or die $!;
        unless ($pid) { print $write "hello"; close $write; exit 7 }
        close $write;
        die "read" unless <$read> eq "hello";
        waitpid $pid, 0;
        exit($? >> 8 == 7 ? 0 : 1);
    ' && echo "a copy wrote, perl read"
}

main "$@"
