/* getpeername: the address at the other end. */
#define CAPABILITY "syscall_getpeername"
#include "_runner_c.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Loopback has many addresses. Each process takes one of its own, since ports may be few. */
#define HERE (INADDR_LOOPBACK | ((unsigned)getpid() & 0xffff) << 8)

static struct sockaddr_in at, got;
static socklen_t size = sizeof got;

/* A socket that listens on loopback, and where. */
static int server(struct sockaddr_in *at) {
    socklen_t size = sizeof *at;
    *at = (struct sockaddr_in){.sin_family = AF_INET, .sin_addr.s_addr = htonl(HERE)};
    int fd = (int)works(socket(AF_INET, SOCK_STREAM, 0), "socket");
    works(bind(fd, (void *)at, sizeof *at), "bind");
    works(listen(fd, 4), "listen");
    works(getsockname(fd, (void *)at, &size), "getsockname");
    return fd;
}

static long get(int fd) {
    return syscall(SYS_getpeername, fd, &got, &size);
}

CHECK(reports_the_server_s_address) {
    server(&at);
    int fd = (int)works(socket(AF_INET, SOCK_STREAM, 0), "socket");
    works(connect(fd, (void *)&at, sizeof at), "connect");
    works(get(fd), "getpeername");
    want(got.sin_addr.s_addr == htonl(HERE) && got.sin_port == at.sin_port, "another");
}

CHECK(reports_the_client_s_address) {
    struct sockaddr_in own;
    int listening = server(&at), fd = (int)works(socket(AF_INET, SOCK_STREAM, 0), "socket");
    works(connect(fd, (void *)&at, sizeof at), "connect");
    works(get((int)works(accept(listening, NULL, NULL), "accept")), "getpeername");
    works(getsockname(fd, (void *)&own, &size), "getsockname");
    want(got.sin_port == own.sin_port, "another port");
}

CHECK(refuses_a_socket_without_a_peer) {
    refuses(get(server(&at)), ENOTCONN, "it listens");
}

CHECK(reports_that_a_pair_has_no_names) {
    int ends[2];
    works(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), "socketpair");
    works(get(ends[0]), "getpeername");
    want(size == sizeof(sa_family_t) && got.sin_family == AF_UNIX, "%u bytes", size);
}

CHECK(writes_no_more_than_there_is_room_for) {
    int ends[2];
    works(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), "socketpair");
    size = 1;
    memset(&got, 9, sizeof got);
    works(get(ends[0]), "getpeername");
    want(size == 2 && ((char *)&got)[1] == 9, "it wrote on");
}

CHECK(refuses_what_is_no_socket) {
    int ends[2];
    works(pipe(ends), "pipe");
    refuses(get(-1), EBADF, "-1");
    refuses(get(ends[0]), ENOTSOCK, "a pipe");
}

CHECK(refuses_a_bad_address) {
    int ends[2];
    works(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), "socketpair");
    refuses(syscall(SYS_getpeername, ends[0], (void *)8, &size), EFAULT, "an answer at 8");
    refuses(syscall(SYS_getpeername, ends[0], &got, (void *)8), EFAULT, "a size at 8");
}

CHECK(refuses_a_bad_size) {
    int ends[2];
    works(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), "socketpair");
    size = (socklen_t)-1;
    refuses(get(ends[0]), EINVAL, "-1 bytes");
}

CHECKS
