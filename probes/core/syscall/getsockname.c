/* getsockname: a socket's own address. */
#define CAPABILITY "syscall_getsockname"
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
    return syscall(SYS_getsockname, fd, &got, &size);
}

CHECK(reports_the_address_that_was_bound) {
    int fd = server(&at);
    works(get(fd), "getsockname");
    want(got.sin_addr.s_addr == htonl(HERE) && got.sin_port == at.sin_port, "another");
}

CHECK(reports_an_empty_address_before) {
    works(get((int)works(socket(AF_INET, SOCK_STREAM, 0), "socket")), "getsockname");
    want(got.sin_family == AF_INET && got.sin_port == 0, "port %d", ntohs(got.sin_port));
}

CHECK(reports_the_address_that_connecting_chose) {
    server(&at);
    int fd = (int)works(socket(AF_INET, SOCK_STREAM, 0), "socket");
    works(connect(fd, (void *)&at, sizeof at), "connect");
    works(get(fd), "getsockname");
    want(ntohl(got.sin_addr.s_addr) >> 24 == 127 && got.sin_port != 0, "none");
}

CHECK(reports_that_a_pair_has_no_names) {
    int ends[2];
    works(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), "socketpair");
    works(get(ends[0]), "getsockname");
    want(size == sizeof(sa_family_t) && got.sin_family == AF_UNIX, "%u bytes", size);
}

CHECK(writes_no_more_than_there_is_room_for) {
    int ends[2];
    works(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), "socketpair");
    size = 1;
    memset(&got, 9, sizeof got);
    works(get(ends[0]), "getsockname");
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
    refuses(syscall(SYS_getsockname, ends[0], (void *)8, &size), EFAULT, "an answer at 8");
    refuses(syscall(SYS_getsockname, ends[0], &got, (void *)8), EFAULT, "a size at 8");
}

CHECK(refuses_a_bad_size) {
    int ends[2];
    works(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), "socketpair");
    size = (socklen_t)-1;
    refuses(get(ends[0]), EINVAL, "-1 bytes");
}

CHECKS
