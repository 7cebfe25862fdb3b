/* setsockopt: options of sockets, set, and what they do. */
#define CAPABILITY "syscall_setsockopt"
#include "_runner_c.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

/* Loopback has many addresses. Each process takes one of its own, since ports may be few. */
#define HERE (INADDR_LOOPBACK | ((unsigned)getpid() & 0xffff) << 8)

static int ends[2];
static char bytes[64];

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

/* Two ends of a TCP connection over loopback. */
static void connection(int ends[2]) {
    struct sockaddr_in at;
    int listening = server(&at);
    ends[0] = (int)works(socket(AF_INET, SOCK_STREAM, 0), "socket");
    works(connect(ends[0], (void *)&at, sizeof at), "connect");
    ends[1] = (int)works(accept(listening, NULL, NULL), "accept");
    close(listening);
}

static long set(int fd, int level, int name, int value) {
    return syscall(SYS_setsockopt, fd, level, name, &value, sizeof value);
}

static int get(int fd, int level, int name) {
    int value = -1;
    socklen_t size = sizeof value;
    works(getsockopt(fd, level, name, &value, &size), "getsockopt");
    return value;
}

static int make(int family, int type) {
    return (int)works(socket(family, type, 0), "socket");
}

CHECK(sets_what_can_be_read_again) {
    static const int names[] = {SO_REUSEADDR, SO_KEEPALIVE, SO_OOBINLINE, SO_BROADCAST};
    int fd = make(AF_INET, SOCK_STREAM);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        works(set(fd, SOL_SOCKET, names[i], 1), "setsockopt");
        want(get(fd, SOL_SOCKET, names[i]) == 1, "option %d is not set", names[i]);
    }
}

CHECK(sets_options_of_tcp) {
    int fd = make(AF_INET, SOCK_STREAM);
    works(set(fd, IPPROTO_TCP, TCP_NODELAY, 1), "TCP_NODELAY");
    works(set(fd, IPPROTO_TCP, TCP_KEEPIDLE, 77), "TCP_KEEPIDLE");
    want(get(fd, IPPROTO_TCP, TCP_NODELAY) == 1, "TCP_NODELAY is not set");
    want(get(fd, IPPROTO_TCP, TCP_KEEPIDLE) == 77, "TCP_KEEPIDLE is another");
}

CHECK(sets_options_of_ip) {
    int fd = make(AF_INET, SOCK_DGRAM), six = make(AF_INET6, SOCK_DGRAM);
    works(set(fd, IPPROTO_IP, IP_TTL, 5), "IP_TTL");
    works(set(six, IPPROTO_IPV6, IPV6_V6ONLY, 1), "IPV6_V6ONLY");
    want(get(fd, IPPROTO_IP, IP_TTL) == 5, "IP_TTL is another");
    want(get(six, IPPROTO_IPV6, IPV6_V6ONLY) == 1, "IPV6_V6ONLY is not set");
}

CHECK(changes_how_much_room_there_is) {
    int fd = make(AF_UNIX, SOCK_STREAM);
    works(set(fd, SOL_SOCKET, SO_SNDBUF, 8192), "SO_SNDBUF");
    want(get(fd, SOL_SOCKET, SO_SNDBUF) == 16384, "%d bytes", get(fd, SOL_SOCKET, SO_SNDBUF));
}

CHECK(limits_how_long_to_wait) {
    struct timeval soon = {0, 20000};
    works(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), "socketpair");
    long result = syscall(SYS_setsockopt, ends[0], SOL_SOCKET, SO_RCVTIMEO, &soon, sizeof soon);
    works(result, "SO_RCVTIMEO");
    refuses(read(ends[0], bytes, 1), EAGAIN, "read");
}

CHECK(closes_at_once_if_asked) {
    struct linger none = {1, 0};
    connection(ends);
    long result = syscall(SYS_setsockopt, ends[0], SOL_SOCKET, SO_LINGER, &none, sizeof none);
    works(result, "SO_LINGER");
    close(ends[0]);
    refuses(read(ends[1], bytes, 1), ECONNRESET, "read at the other end");
}

CHECK(shares_a_port_if_asked) {
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(HERE)};
    socklen_t size = sizeof at;
    int one = make(AF_INET, SOCK_DGRAM), other = make(AF_INET, SOCK_DGRAM);
    works(set(one, SOL_SOCKET, SO_REUSEPORT, 1), "SO_REUSEPORT");
    works(set(other, SOL_SOCKET, SO_REUSEPORT, 1), "SO_REUSEPORT");
    works(bind(one, (void *)&at, sizeof at), "bind");
    works(getsockname(one, (void *)&at, &size), "getsockname");
    works(bind(other, (void *)&at, sizeof at), "bind to the same");
}

CHECK(refuses_unknown_options) {
    refuses(set(make(AF_UNIX, SOCK_STREAM), SOL_SOCKET, 9999, 1), ENOPROTOOPT, "option 9999");
}

CHECK(refuses_what_can_only_be_read) {
    refuses(set(make(AF_UNIX, SOCK_STREAM), SOL_SOCKET, SO_TYPE, 1), ENOPROTOOPT, "SO_TYPE");
}

CHECK(refuses_values_that_are_none) {
    refuses(set(make(AF_INET, SOCK_DGRAM), IPPROTO_IP, IP_TTL, 999), EINVAL, "999 hops");
}

CHECK(refuses_a_value_too_short) {
    int on = 1, fd = make(AF_UNIX, SOCK_STREAM);
    refuses(syscall(SYS_setsockopt, fd, SOL_SOCKET, SO_KEEPALIVE, &on, 1), EINVAL, "1 byte");
}

CHECK(refuses_levels_that_a_socket_has_not) {
    refuses(set(make(AF_UNIX, SOCK_STREAM), IPPROTO_TCP, TCP_NODELAY, 1), EOPNOTSUPP, "TCP");
}

CHECK(refuses_what_is_no_socket) {
    works(pipe(ends), "pipe");
    refuses(set(-1, SOL_SOCKET, SO_KEEPALIVE, 1), EBADF, "-1");
    refuses(set(ends[0], SOL_SOCKET, SO_KEEPALIVE, 1), ENOTSOCK, "a pipe");
}

CHECK(refuses_a_bad_address) {
    int fd = make(AF_UNIX, SOCK_STREAM);
    refuses(syscall(SYS_setsockopt, fd, SOL_SOCKET, SO_KEEPALIVE, (void *)8, 4), EFAULT, "at 8");
}

CHECKS
