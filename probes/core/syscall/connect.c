/* connect: sockets that reach others, of loopback, paths and names, or do not. */
#define CAPABILITY "syscall_connect"
#include "_runner_c.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

/* Loopback has many addresses. Each process takes one of its own, since ports may be few. */
#define HERE (INADDR_LOOPBACK | ((unsigned)getpid() & 0xffff) << 8)

static struct sockaddr_in at;

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

static int make(int family, int type) {
    return (int)works(socket(family, type, 0), "socket");
}

static long to(int fd, const void *address, size_t size) {
    return syscall(SYS_connect, fd, address, size);
}

CHECK(reaches_a_server_on_loopback) {
    char byte = 0;
    int listening = server(&at), fd = make(AF_INET, SOCK_STREAM);
    works(to(fd, &at, sizeof at), "connect");
    int other = (int)works(accept(listening, NULL, NULL), "accept");
    works(write(fd, "x", 1), "write");
    want(read(other, &byte, 1) == 1 && byte == 'x', "nothing came");
}

CHECK(reaches_a_server_on_ipv6_loopback) {
    struct sockaddr_in6 v6 = {.sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT};
    socklen_t size = sizeof v6;
    int listening = make(AF_INET6, SOCK_STREAM), fd = make(AF_INET6, SOCK_STREAM);
    if (bind(listening, (void *)&v6, size) < 0)
        unavailable("IPv6 is turned off here");
    works(listen(listening, 1), "listen");
    works(getsockname(listening, (void *)&v6, &size), "getsockname");
    works(to(fd, &v6, sizeof v6), "connect");
    works(accept(listening, NULL, NULL), "accept");
}

CHECK(reaches_a_server_with_a_path) {
    struct sockaddr_un path = {.sun_family = AF_UNIX};
    snprintf(path.sun_path, sizeof path.sun_path, "%s", scratch("connect"));
    int listening = make(AF_UNIX, SOCK_STREAM), fd = make(AF_UNIX, SOCK_STREAM);
    works(bind(listening, (void *)&path, sizeof path), "bind");
    int listens = listen(listening, 1);
    long result = to(fd, &path, sizeof path);
    int number = errno;
    unlink(path.sun_path);
    errno = number;
    works(listens, "listen");
    works(result, "connect");
    works(accept(listening, NULL, NULL), "accept");
}

CHECK(reaches_a_server_with_a_name) {
    struct sockaddr_un name = {.sun_family = AF_UNIX};
    snprintf(name.sun_path + 1, 100, "wardian-connect-%d", (int)getpid());
    int listening = make(AF_UNIX, SOCK_SEQPACKET), fd = make(AF_UNIX, SOCK_SEQPACKET);
    works(bind(listening, (void *)&name, sizeof name), "bind");
    works(listen(listening, 1), "listen");
    works(to(fd, &name, sizeof name), "connect");
}

CHECK(gives_a_datagram_socket_its_peer) {
    struct sockaddr_in peer;
    socklen_t size = sizeof peer;
    int one = make(AF_INET, SOCK_DGRAM), other = make(AF_INET, SOCK_DGRAM);
    at = (struct sockaddr_in){.sin_family = AF_INET, .sin_addr.s_addr = htonl(HERE)};
    works(bind(one, (void *)&at, sizeof at), "bind");
    works(getsockname(one, (void *)&at, &size), "getsockname");
    works(to(other, &at, sizeof at), "connect");
    works(getpeername(other, (void *)&peer, &size), "getpeername");
    want(peer.sin_port == at.sin_port, "another peer");
    struct sockaddr none = {.sa_family = AF_UNSPEC};
    works(to(other, &none, sizeof none), "connect to nobody");
    refuses(getpeername(other, (void *)&peer, &size), ENOTCONN, "getpeername afterwards");
}

CHECK(goes_on_without_waiting) {
    int error = -1, listening = server(&at), fd = make(AF_INET, SOCK_STREAM | SOCK_NONBLOCK);
    socklen_t size = sizeof error;
    struct pollfd ready = {.fd = fd, .events = POLLOUT};
    long result = to(fd, &at, sizeof at);
    want(result == 0 || errno == EINPROGRESS, "it failed");
    want(poll(&ready, 1, 3000) == 1, "it is never ready");
    works(getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size), "SO_ERROR");
    want(error == 0, "error %d", error);
    works(accept(listening, NULL, NULL), "accept");
}

CHECK(refuses_a_port_where_nobody_listens) {
    close(server(&at));
    refuses(to(make(AF_INET, SOCK_STREAM), &at, sizeof at), ECONNREFUSED, "a closed port");
}

CHECK(refuses_a_path_where_nobody_listens) {
    struct sockaddr_un path = {.sun_family = AF_UNIX};
    snprintf(path.sun_path, sizeof path.sun_path, "%s", scratch("connect"));
    int fd = make(AF_UNIX, SOCK_STREAM);
    works(bind(fd, (void *)&path, sizeof path), "bind");
    long result = to(make(AF_UNIX, SOCK_STREAM), &path, sizeof path);
    int number = errno;
    unlink(path.sun_path);
    errno = number;
    refuses(result, ECONNREFUSED, "a path that nobody listens at");
}

CHECK(refuses_a_path_that_is_not_there) {
    struct sockaddr_un path = {.sun_family = AF_UNIX, .sun_path = "/nonexistent/socket"};
    refuses(to(make(AF_UNIX, SOCK_STREAM), &path, sizeof path), ENOENT, "/nonexistent/socket");
}

CHECK(refuses_a_second_connection) {
    int listening = server(&at), fd = make(AF_INET, SOCK_STREAM);
    works(to(fd, &at, sizeof at), "connect");
    refuses(to(fd, &at, sizeof at), EISCONN, "again");
    close(listening);
}

CHECK(refuses_another_type) {
    struct sockaddr_un path = {.sun_family = AF_UNIX};
    snprintf(path.sun_path, sizeof path.sun_path, "%s", scratch("connect"));
    works(bind(make(AF_UNIX, SOCK_DGRAM), (void *)&path, sizeof path), "bind");
    long result = to(make(AF_UNIX, SOCK_STREAM), &path, sizeof path);
    int number = errno;
    unlink(path.sun_path);
    errno = number;
    refuses(result, EPROTOTYPE, "a datagram socket");
}

CHECK(refuses_an_address_of_no_family) {
    struct sockaddr odd = {.sa_family = 99};
    refuses(to(make(AF_INET, SOCK_STREAM), &odd, sizeof odd), EAFNOSUPPORT, "family 99");
}

CHECK(refuses_what_is_no_socket) {
    int ends[2];
    works(pipe(ends), "pipe");
    refuses(to(-1, &at, sizeof at), EBADF, "-1");
    refuses(to(ends[0], &at, sizeof at), ENOTSOCK, "a pipe");
}

CHECK(refuses_a_bad_address) {
    refuses(to(make(AF_INET, SOCK_STREAM), (void *)8, 16), EFAULT, "an address at 8");
}

CHECKS
