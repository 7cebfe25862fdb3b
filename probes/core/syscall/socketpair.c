/* socketpair: two UNIX sockets that are connected. */
#define CAPABILITY "syscall_socketpair"
#include "_runner_c.h"

#include <fcntl.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static int ends[2];
static char bytes[16];

static void make(int type) {
    works(syscall(SYS_socketpair, AF_UNIX, type, 0, ends), "socketpair");
}

CHECK(carries_bytes_both_ways) {
    make(SOCK_STREAM);
    works(write(ends[0], "there", 5), "write");
    works(write(ends[1], "back", 4), "write");
    want(read(ends[1], bytes, 16) == 5 && !memcmp(bytes, "there", 5), "not there");
    want(read(ends[0], bytes, 16) == 4 && !memcmp(bytes, "back", 4), "not back");
}

CHECK(keeps_messages_apart) {
    static const int types[2] = {SOCK_DGRAM, SOCK_SEQPACKET};
    for (int i = 0; i < 2; i++) {
        make(types[i]);
        works(send(ends[0], "one", 3, 0), "send");
        works(send(ends[0], "three", 5, 0), "send");
        want(recv(ends[1], bytes, 16, 0) == 3, "messages run together");
        want(recv(ends[1], bytes, 16, 0) == 5, "another message");
    }
}

CHECK(lets_bytes_of_a_stream_run_together) {
    make(SOCK_STREAM);
    works(write(ends[0], "one", 3), "write");
    works(write(ends[0], "two", 3), "write");
    want(read(ends[1], bytes, 16) == 6, "they do not");
}

CHECK(ends_when_the_other_end_is_closed) {
    make(SOCK_STREAM);
    close(ends[0]);
    want(read(ends[1], bytes, 16) == 0, "no end");
    refuses(send(ends[1], "x", 1, MSG_NOSIGNAL), EPIPE, "send");
}

CHECK(reaches_a_child) {
    make(SOCK_STREAM);
    pid_t child = (pid_t)works(fork(), "fork");
    if (child == 0)
        _exit(write(ends[1], "hello", 5) != 5);
    want(read(ends[0], bytes, 16) == 5 && !memcmp(bytes, "hello", 5), "other bytes");
    waitpid(child, NULL, 0);
}

CHECK(reports_who_is_at_the_other_end) {
    struct ucred peer;
    socklen_t size = sizeof peer;
    make(SOCK_STREAM);
    works(getsockopt(ends[0], SOL_SOCKET, SO_PEERCRED, &peer, &size), "SO_PEERCRED");
    want(peer.pid == getpid() && peer.uid == geteuid(), "process %d", peer.pid);
}

CHECK(sets_the_flags_asked_for) {
    make(SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK);
    for (int i = 0; i < 2; i++)
        want(fcntl(ends[i], F_GETFD) == FD_CLOEXEC && fcntl(ends[i], F_GETFL) & O_NONBLOCK, "no");
    refuses(read(ends[0], bytes, 1), EAGAIN, "read of nothing");
}

CHECK(refuses_families_without_pairs) {
    refuses(syscall(SYS_socketpair, AF_INET, SOCK_STREAM, 0, ends), EOPNOTSUPP, "TCP");
    refuses(syscall(SYS_socketpair, AF_INET6, SOCK_DGRAM, 0, ends), EOPNOTSUPP, "UDP over IPv6");
}

CHECK(refuses_families_types_and_protocols_that_are_none) {
    refuses(syscall(SYS_socketpair, 9999, SOCK_STREAM, 0, ends), EAFNOSUPPORT, "family 9999");
    refuses(syscall(SYS_socketpair, AF_UNIX, 9, 0, ends), ESOCKTNOSUPPORT, "type 9");
    refuses(syscall(SYS_socketpair, AF_UNIX, SOCK_STREAM, 99, ends), EPROTONOSUPPORT, "protocol");
}

CHECK(refuses_a_bad_address) {
    refuses(syscall(SYS_socketpair, AF_UNIX, SOCK_STREAM, 0, (void *)8), EFAULT, "an answer at 8");
}

CHECK(refuses_more_than_may_be_open) {
    struct rlimit few = {0, 0};
    works(setrlimit(RLIMIT_NOFILE, &few), "setrlimit");
    refuses(syscall(SYS_socketpair, AF_UNIX, SOCK_STREAM, 0, ends), EMFILE, "where none may be");
}

CHECKS
