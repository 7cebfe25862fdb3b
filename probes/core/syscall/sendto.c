/* sendto: bytes and messages, to a peer or to an address. */
#define CAPABILITY "syscall_sendto"
#include "_runner_c.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Loopback has many addresses. Each process takes one of its own, since ports may be few. */
#define HERE (INADDR_LOOPBACK | ((unsigned)getpid() & 0xffff) << 8)

static struct sockaddr_in at;
static char bytes[70000];
static int ends[2];

/* A UDP socket on loopback, and where. */
static int receiver(struct sockaddr_in *at) {
    socklen_t size = sizeof *at;
    *at = (struct sockaddr_in){.sin_family = AF_INET, .sin_addr.s_addr = htonl(HERE)};
    int fd = (int)works(socket(AF_INET, SOCK_DGRAM, 0), "socket");
    works(bind(fd, (void *)at, sizeof *at), "bind");
    works(getsockname(fd, (void *)at, &size), "getsockname");
    return fd;
}

static void pair(int type) {
    works(socketpair(AF_UNIX, type, 0, ends), "socketpair");
}

static long put(int fd, size_t size, int flags) {
    return syscall(SYS_sendto, fd, bytes, size, flags, NULL, 0);
}

CHECK(sends_to_an_address) {
    int to = receiver(&at), from = (int)works(socket(AF_INET, SOCK_DGRAM, 0), "socket");
    want(works(syscall(SYS_sendto, from, "glass", 5, 0, &at, sizeof at), "sendto") == 5, "not 5");
    want(recv(to, bytes, 16, 0) == 5 && !memcmp(bytes, "glass", 5), "other bytes");
}

CHECK(sends_to_the_peer) {
    pair(SOCK_STREAM);
    want(works(syscall(SYS_sendto, ends[0], "glass", 5, 0, NULL, 0), "sendto") == 5, "not 5");
    want(read(ends[1], bytes, 16) == 5 && !memcmp(bytes, "glass", 5), "other bytes");
}

CHECK(sends_empty_messages) {
    pair(SOCK_DGRAM);
    want(works(put(ends[0], 0, 0), "sendto") == 0, "not 0");
    want(recv(ends[1], bytes, 16, MSG_DONTWAIT) == 0, "no message");
}

CHECK(sends_part_of_what_does_not_fit) {
    long sent = 1, rounds = 0;
    pair(SOCK_STREAM);
    while (sent > 0 && rounds++ < 1000)
        sent = put(ends[0], sizeof bytes, MSG_DONTWAIT);
    refuses(sent, EAGAIN, "a full socket");
}

CHECK(kills_or_not_who_writes_to_nobody) {
    pair(SOCK_STREAM);
    close(ends[1]);
    refuses(put(ends[0], 1, MSG_NOSIGNAL), EPIPE, "MSG_NOSIGNAL");
    signal(SIGPIPE, SIG_IGN);
    refuses(put(ends[0], 1, 0), EPIPE, "SIGPIPE ignored");
}

CHECK(refuses_a_message_too_long) {
    int from = (int)works(socket(AF_INET, SOCK_DGRAM, 0), "socket");
    receiver(&at);
    refuses(syscall(SYS_sendto, from, bytes, 70000, 0, &at, sizeof at), EMSGSIZE, "70000 bytes");
}

CHECK(refuses_a_datagram_to_nobody) {
    int from = (int)works(socket(AF_INET, SOCK_DGRAM, 0), "socket");
    refuses(put(from, 1, 0), EDESTADDRREQ, "no address");
}

CHECK(refuses_a_stream_without_a_peer) {
    int fd = (int)works(socket(AF_UNIX, SOCK_STREAM, 0), "socket");
    refuses(put(fd, 1, MSG_NOSIGNAL), ENOTCONN, "not connected");
}

CHECK(refuses_an_address_for_who_has_a_peer) {
    pair(SOCK_STREAM);
    refuses(syscall(SYS_sendto, ends[0], "x", 1, 0, &at, sizeof at), EISCONN, "a UNIX stream");
}

CHECK(refuses_urgent_datagrams) {
    pair(SOCK_DGRAM);
    refuses(put(ends[0], 1, MSG_OOB), EOPNOTSUPP, "MSG_OOB");
}

CHECK(refuses_what_is_no_socket) {
    works(pipe(ends), "pipe");
    refuses(put(-1, 1, 0), EBADF, "-1");
    refuses(put(ends[1], 1, 0), ENOTSOCK, "a pipe");
}

CHECK(refuses_a_bad_address) {
    pair(SOCK_STREAM);
    refuses(syscall(SYS_sendto, ends[0], (void *)8, 1, 0, NULL, 0), EFAULT, "bytes at 8");
}

CHECKS
