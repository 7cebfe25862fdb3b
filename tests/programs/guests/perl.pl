# Forks, pipes, sockets, sorting, temporary files.
use strict; use warnings; use IO::Socket::INET; use File::Temp qw(tempfile); use POSIX ();
$| = 1;
pipe(my $r, my $w) or die; my $pid = fork() // die;
if (!$pid) { close $r; print $w "from the child\n"; exit 4 }
close $w; print "pipe ", scalar <$r>; waitpid $pid, 0; print "code ", $? >> 8, "\n";
my $server = IO::Socket::INET->new(Listen => 1, LocalAddr => '127.0.0.1') or die "listen: $!";
if (!fork) { my $c = IO::Socket::INET->new(PeerAddr => '127.0.0.1', PeerPort => $server->sockport); print $c "socket\n"; exit 0 }
my $peer = $server->accept; print scalar <$peer>; wait;
my ($fh, $name) = tempfile(UNLINK => 1); print $fh "x"; close $fh; print "temp ", -s $name, "\n";
print "backtick ", `echo hi`; $SIG{ALRM} = sub { print "alarm\n" }; alarm 1; POSIX::pause();
print join(",", sort { $b <=> $a } 1..5), "\n"; printf "%s\n", (getpwuid($>))[0] ? "user" : "nobody";
