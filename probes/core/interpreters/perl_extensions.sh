# Perl runs, and its extensions in C load.
. "${0%/*}/../../_runner.sh"

CAPABILITY=interpreters_perl_extensions

exercise() {
    command -v perl >/dev/null || unavailable "there is no perl"
    perl -e '
        use strict; use POSIX (); use Digest::SHA "sha256_hex"; use List::Util "sum"; use Socket;
        die "sha" unless sha256_hex("") =~ /^e3b0c442/;
        die "sum" unless sum(1 .. 10) == 55 && POSIX::floor(1.5) == 1;
    ' && echo "POSIX, Digest::SHA, List::Util and Socket work"
}

main "$@"
