/* accept: connections that wait, and sockets where none can. */
#define CAPABILITY "syscall_accept"
#include "_runner_c.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
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

static long take(int fd, void *address, socklen_t *size) {
    return syscall(SYS_accept, fd, address, size);
}

static int client(void) {
    int fd = (int)works(socket(AF_INET, SOCK_STREAM, 0), "socket");
    works(connect(fd, (void *)&at, sizeof at), "connect");
    return fd;
}

CHECK(gives_a_connection_that_carries_bytes) {
    char byte = 0;
    int listening = server(&at), one = client();
    int other = (int)works(take(listening, NULL, NULL), "accept");
    works(write(other, "x", 1), "write");
    want(read(one, &byte, 1) == 1 && byte == 'x', "nothing came");
}

CHECK(reports_who_connected) {
    struct sockaddr_in peer = {0}, own;
    socklen_t size = sizeof peer;
    int listening = server(&at), one = client();
    works(take(listening, &peer, &size), "accept");
    want(size == sizeof peer && peer.sin_family == AF_INET, "%u bytes", size);
    works(getsockname(one, (void *)&own, &size), "getsockname");
    want(peer.sin_port == own.sin_port, "another port");
}

CHECK(reports_no_more_than_there_is_room_for) {
    char room[4] = {0, 0, 9, 9};
    socklen_t size = 2;
    int listening = server(&at);
    client();
    works(take(listening, room, &size), "accept");
    want(size == sizeof at && room[2] == 9, "%u bytes", size);
}

CHECK(gives_connections_in_order) {
    struct sockaddr_in peer, own;
    socklen_t size = sizeof peer;
    int listening = server(&at), one = client();
    client();
    works(take(listening, &peer, &size), "accept");
    works(getsockname(one, (void *)&own, &size), "getsockname");
    want(peer.sin_port == own.sin_port, "the second comes first");
    works(take(listening, NULL, NULL), "accept of the second");
}

CHECK(waits_for_a_connection) {
    int status, listening = server(&at);
    pid_t child = (pid_t)works(fork(), "fork");
    if (child == 0) {
        usleep(50000);
        client();
        _exit(0);
    }
    works(take(listening, NULL, NULL), "accept");
    waitpid(child, &status, 0);
}

CHECK(refuses_to_wait_where_it_must_not) {
    int listening = server(&at);
    works(fcntl(listening, F_SETFL, O_NONBLOCK), "fcntl");
    refuses(take(listening, NULL, NULL), EAGAIN, "nobody connects");
}

CHECK(refuses_a_socket_that_does_not_listen) {
    int fd = (int)works(socket(AF_INET, SOCK_STREAM, 0), "socket");
    refuses(take(fd, NULL, NULL), EINVAL, "it does not listen");
}

CHECK(refuses_datagram_sockets) {
    int fd = (int)works(socket(AF_INET, SOCK_DGRAM, 0), "socket");
    refuses(take(fd, NULL, NULL), EOPNOTSUPP, "UDP");
}

CHECK(refuses_what_is_no_socket) {
    int ends[2];
    works(pipe(ends), "pipe");
    refuses(take(-1, NULL, NULL), EBADF, "-1");
    refuses(take(ends[0], NULL, NULL), ENOTSOCK, "a pipe");
}

CHECK(refuses_a_bad_address) {
    socklen_t size = 16;
    int listening = server(&at);
    client();
    refuses(take(listening, (void *)8, &size), EFAULT, "an answer at 8");
}

CHECK(refuses_a_bad_size) {
    struct sockaddr_in peer;
    socklen_t size = (socklen_t)-1;
    int listening = server(&at);
    client();
    refuses(take(listening, &peer, &size), EINVAL, "-1 bytes");
}

CHECK(does_not_inherit_flags) {
    int listening = server(&at);
    works(fcntl(listening, F_SETFL, O_NONBLOCK), "fcntl");
    client();
    int fd = (int)works(take(listening, NULL, NULL), "accept");
    want((fcntl(fd, F_GETFL) & O_NONBLOCK) == 0 && fcntl(fd, F_GETFD) == 0, "it has some");
}

CHECKS
