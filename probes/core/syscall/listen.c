/* listen: sockets that take connections, as many as may wait. */
#define CAPABILITY "syscall_listen"
#include "_runner_c.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

/* Loopback has many addresses. Each process takes one of its own, since ports may be few. */
#define HERE (INADDR_LOOPBACK | ((unsigned)getpid() & 0xffff) << 8)

static int option(int fd) {
    int value = -1;
    socklen_t size = sizeof value;
    works(getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &value, &size), "SO_ACCEPTCONN");
    return value;
}

static struct sockaddr_in at;

/* A socket that has an address. */
static int bound(void) {
    socklen_t size = sizeof at;
    at = (struct sockaddr_in){.sin_family = AF_INET, .sin_addr.s_addr = htonl(HERE)};
    int fd = (int)works(socket(AF_INET, SOCK_STREAM, 0), "socket");
    works(bind(fd, (void *)&at, sizeof at), "bind");
    works(getsockname(fd, (void *)&at, &size), "getsockname");
    return fd;
}

CHECK(lets_others_connect) {
    int fd = bound();
    int other = (int)works(socket(AF_INET, SOCK_STREAM, 0), "socket");
    refuses(connect(other, (void *)&at, sizeof at), ECONNREFUSED, "connect before");
    works(syscall(SYS_listen, fd, 1), "listen");
    works(connect(other, (void *)&at, sizeof at), "connect");
}

CHECK(is_reported_by_an_option) {
    int fd = bound();
    want(option(fd) == 0, "it listens already");
    works(syscall(SYS_listen, fd, 1), "listen");
    want(option(fd) == 1, "it does not listen");
}

CHECK(chooses_a_port_if_there_is_none) {
    socklen_t size = sizeof at;
    int fd = (int)works(socket(AF_INET, SOCK_STREAM, 0), "socket");
    long result = syscall(SYS_listen, fd, 1);
    if (result < 0 && errno == EADDRINUSE)
        unavailable("every port is taken here");
    works(result, "listen");
    works(getsockname(fd, (void *)&at, &size), "getsockname");
    want(at.sin_port != 0, "no port");
}

CHECK(can_be_done_again) {
    int fd = bound();
    works(syscall(SYS_listen, fd, 1), "listen");
    works(syscall(SYS_listen, fd, 5), "listen again");
}

CHECK(lets_only_so_many_wait) {
    struct sockaddr_un name = {.sun_family = AF_UNIX};
    long result = 0;
    snprintf(name.sun_path + 1, 100, "wardian-listen-%d", (int)getpid());
    int fd = (int)works(socket(AF_UNIX, SOCK_STREAM, 0), "socket");
    works(bind(fd, (void *)&name, sizeof name), "bind");
    works(syscall(SYS_listen, fd, 1), "listen");
    for (int i = 0; i < 16 && result == 0; i++) {
        int other = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);
        result = connect(other, (void *)&name, sizeof name);
    }
    refuses(result, EAGAIN, "the next");
}

CHECK(refuses_datagram_sockets) {
    int fd = (int)works(socket(AF_INET, SOCK_DGRAM, 0), "socket");
    refuses(syscall(SYS_listen, fd, 1), EOPNOTSUPP, "UDP");
}

CHECK(refuses_a_unix_socket_without_a_name) {
    int fd = (int)works(socket(AF_UNIX, SOCK_STREAM, 0), "socket");
    refuses(syscall(SYS_listen, fd, 1), EINVAL, "without a name");
}

CHECK(refuses_what_is_no_socket) {
    int ends[2];
    works(pipe(ends), "pipe");
    refuses(syscall(SYS_listen, -1, 1), EBADF, "-1");
    refuses(syscall(SYS_listen, ends[0], 1), ENOTSOCK, "a pipe");
}

CHECKS
