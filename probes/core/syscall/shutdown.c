/* shutdown: directions of a connection that end. */
#define CAPABILITY "syscall_shutdown"
#include "_runner_c.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* Loopback has many addresses. Each process takes one of its own, since ports may be few. */
#define HERE (INADDR_LOOPBACK | ((unsigned)getpid() & 0xffff) << 8)

static int ends[2];
static char byte;

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

static void pair(void) {
    works(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), "socketpair");
}

CHECK(ends_writing) {
    pair();
    works(syscall(SYS_shutdown, ends[0], SHUT_WR), "shutdown");
    want(read(ends[1], &byte, 1) == 0, "no end at the other end");
    refuses(send(ends[0], "x", 1, MSG_NOSIGNAL), EPIPE, "send");
}

CHECK(leaves_the_other_direction) {
    pair();
    works(syscall(SYS_shutdown, ends[0], SHUT_WR), "shutdown");
    works(write(ends[1], "x", 1), "write");
    want(read(ends[0], &byte, 1) == 1 && byte == 'x', "nothing came");
}

CHECK(gives_what_was_sent_before) {
    pair();
    works(write(ends[0], "x", 1), "write");
    works(syscall(SYS_shutdown, ends[0], SHUT_WR), "shutdown");
    want(read(ends[1], &byte, 1) == 1 && read(ends[1], &byte, 1) == 0, "not one byte and an end");
}

CHECK(ends_reading) {
    pair();
    works(syscall(SYS_shutdown, ends[0], SHUT_RD), "shutdown");
    want(read(ends[0], &byte, 1) == 0, "no end");
    refuses(send(ends[1], "x", 1, MSG_NOSIGNAL), EPIPE, "send from the other end");
}

CHECK(ends_both) {
    struct pollfd one = {.events = POLLIN | POLLRDHUP};
    pair();
    works(syscall(SYS_shutdown, ends[0], SHUT_RDWR), "shutdown");
    one.fd = ends[1];
    want(poll(&one, 1, 0) == 1 && one.revents & POLLHUP, "gave %#x", (unsigned)one.revents);
}

CHECK(ends_a_tcp_connection_for_the_other_side) {
    struct pollfd one = {.events = POLLIN};
    connection(ends);
    works(syscall(SYS_shutdown, ends[0], SHUT_WR), "shutdown");
    one.fd = ends[1];
    want(poll(&one, 1, 3000) == 1 && read(ends[1], &byte, 1) == 0, "no end");
    works(write(ends[1], "x", 1), "write");
    one.fd = ends[0];
    want(poll(&one, 1, 3000) == 1 && read(ends[0], &byte, 1) == 1, "nothing comes back");
}

CHECK(ends_the_connection_of_all_who_share_it) {
    pair();
    pid_t child = (pid_t)works(fork(), "fork");
    if (child == 0)
        _exit(syscall(SYS_shutdown, ends[0], SHUT_WR) != 0);
    waitpid(child, NULL, 0);
    refuses(send(ends[0], "x", 1, MSG_NOSIGNAL), EPIPE, "send");
}

CHECK(wakes_who_waits_for_connections) {
    struct sockaddr_in at;
    struct pollfd one = {.fd = server(&at), .events = POLLIN};
    works(syscall(SYS_shutdown, one.fd, SHUT_RDWR), "shutdown");
    want(poll(&one, 1, 3000) == 1, "nobody is woken");
    refuses(accept(one.fd, NULL, NULL), EINVAL, "accept");
}

CHECK(refuses_a_socket_without_a_peer) {
    int fd = (int)works(socket(AF_INET, SOCK_STREAM, 0), "socket");
    refuses(syscall(SYS_shutdown, fd, SHUT_RDWR), ENOTCONN, "not connected");
}

CHECK(refuses_unknown_directions) {
    pair();
    refuses(syscall(SYS_shutdown, ends[0], 9), EINVAL, "direction 9");
}

CHECK(refuses_what_is_no_socket) {
    works(pipe(ends), "pipe");
    refuses(syscall(SYS_shutdown, -1, SHUT_RD), EBADF, "-1");
    refuses(syscall(SYS_shutdown, ends[0], SHUT_RD), ENOTSOCK, "a pipe");
}

CHECKS
