/* getsockopt: options of sockets, read. */
#define CAPABILITY "syscall_getsockopt"
#include "_runner_c.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Loopback has many addresses. Each process takes one of its own, since ports may be few. */
#define HERE (INADDR_LOOPBACK | ((unsigned)getpid() & 0xffff) << 8)

static int ends[2], value = -1;
static socklen_t size = sizeof value;

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

static long get(int fd, int level, int name) {
    return syscall(SYS_getsockopt, fd, level, name, &value, &size);
}

static int make(int family, int type) {
    return (int)works(socket(family, type, 0), "socket");
}

CHECK(reports_the_kind_of_socket) {
    works(get(make(AF_UNIX, SOCK_DGRAM), SOL_SOCKET, SO_TYPE), "SO_TYPE");
    want(value == SOCK_DGRAM && size == sizeof value, "type %d", value);
}

CHECK(reports_how_much_room_there_is) {
    int fd = make(AF_INET, SOCK_STREAM);
    works(get(fd, SOL_SOCKET, SO_SNDBUF), "SO_SNDBUF");
    want(value > 0, "%d bytes to send", value);
    works(get(fd, SOL_SOCKET, SO_RCVBUF), "SO_RCVBUF");
    want(value > 0, "%d bytes to receive", value);
}

CHECK(reports_an_error_once) {
    struct sockaddr_in at;
    close(server(&at));
    int fd = make(AF_INET, SOCK_DGRAM);
    works(connect(fd, (void *)&at, sizeof at), "connect");
    works(send(fd, "x", 1, 0), "send");
    for (int i = 0; i < 200 && value <= 0; i++) {
        works(get(fd, SOL_SOCKET, SO_ERROR), "SO_ERROR");
        usleep(10000);
    }
    want(value == ECONNREFUSED, "error %d", value);
    works(get(fd, SOL_SOCKET, SO_ERROR), "SO_ERROR");
    want(value == 0, "error %d again", value);
}

CHECK(reports_who_is_at_the_other_end) {
    struct ucred peer = {0};
    socklen_t room = sizeof peer;
    works(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), "socketpair");
    works(syscall(SYS_getsockopt, ends[0], SOL_SOCKET, SO_PEERCRED, &peer, &room), "SO_PEERCRED");
    want(peer.pid == getpid() && peer.uid == geteuid() && peer.gid == getegid(), "another");
}

CHECK(reports_the_state_of_a_tcp_connection) {
    struct tcp_info info = {0};
    socklen_t room = sizeof info;
    connection(ends);
    works(syscall(SYS_getsockopt, ends[0], IPPROTO_TCP, TCP_INFO, &info, &room), "TCP_INFO");
    want(info.tcpi_state == TCP_ESTABLISHED, "state %d", info.tcpi_state);
}

CHECK(reports_the_largest_segment) {
    connection(ends);
    works(get(ends[0], IPPROTO_TCP, TCP_MAXSEG), "TCP_MAXSEG");
    want(value > 0, "%d bytes", value);
}

CHECK(reports_the_time_to_live) {
    works(get(make(AF_INET, SOCK_STREAM), IPPROTO_IP, IP_TTL), "IP_TTL");
    want(value > 0 && value <= 255, "%d hops", value);
}

CHECK(cuts_an_answer_that_does_not_fit) {
    size = 1;
    value = 0x7f7f7f7f;
    works(get(make(AF_UNIX, SOCK_STREAM), SOL_SOCKET, SO_TYPE), "SO_TYPE");
    want(size == 1 && (value & ~0xff) == 0x7f7f7f00, "it wrote %u bytes", size);
}

CHECK(refuses_unknown_options) {
    refuses(get(make(AF_UNIX, SOCK_STREAM), SOL_SOCKET, 9999), ENOPROTOOPT, "option 9999");
    refuses(get(make(AF_INET, SOCK_STREAM), IPPROTO_TCP, 9999), ENOPROTOOPT, "TCP's 9999");
}

CHECK(refuses_levels_that_a_socket_has_not) {
    refuses(get(make(AF_UNIX, SOCK_STREAM), IPPROTO_TCP, TCP_NODELAY), EOPNOTSUPP, "TCP of UNIX");
}

CHECK(refuses_a_negative_size) {
    size = (socklen_t)-1;
    refuses(get(make(AF_UNIX, SOCK_STREAM), SOL_SOCKET, SO_TYPE), EINVAL, "-1 bytes");
}

CHECK(refuses_what_is_no_socket) {
    works(pipe(ends), "pipe");
    refuses(get(-1, SOL_SOCKET, SO_TYPE), EBADF, "-1");
    refuses(get(ends[0], SOL_SOCKET, SO_TYPE), ENOTSOCK, "a pipe");
}

CHECK(refuses_a_bad_address) {
    int fd = make(AF_UNIX, SOCK_STREAM);
    refuses(syscall(SYS_getsockopt, fd, SOL_SOCKET, SO_TYPE, (void *)8, &size), EFAULT, "at 8");
    refuses(syscall(SYS_getsockopt, fd, SOL_SOCKET, SO_TYPE, &value, (void *)8), EFAULT, "size");
}

CHECKS
