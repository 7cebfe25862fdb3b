/* recvfrom: bytes and messages, whole, in part, looked at, and from whom. */
#define CAPABILITY "syscall_recvfrom"
#include "_runner_c.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

/* Loopback has many addresses. Each process takes one of its own, since ports may be few. */
#define HERE (INADDR_LOOPBACK | ((unsigned)getpid() & 0xffff) << 8)

static struct sockaddr_in at;
static char bytes[64];
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

static long get(int fd, size_t size, int flags) {
    return syscall(SYS_recvfrom, fd, bytes, size, flags, NULL, NULL);
}

CHECK(reports_who_sent_it) {
    struct sockaddr_in from, other;
    socklen_t size = sizeof from;
    int one = receiver(&other), fd = receiver(&at);
    works(sendto(one, "glass", 5, 0, (void *)&at, sizeof at), "sendto");
    want(works(syscall(SYS_recvfrom, fd, bytes, 64, 0, &from, &size), "recvfrom") == 5, "not 5");
    want(!memcmp(bytes, "glass", 5) && size == sizeof from, "other bytes");
    want(from.sin_port == other.sin_port && from.sin_addr.s_addr == other.sin_addr.s_addr, "who");
}

CHECK(gives_a_part_of_a_stream) {
    pair(SOCK_STREAM);
    works(write(ends[0], "glass", 5), "write");
    want(get(ends[1], 2, 0) == 2 && !memcmp(bytes, "gl", 2), "not the first two");
    want(get(ends[1], 64, 0) == 3 && !memcmp(bytes, "ass", 3), "not the rest");
}

CHECK(loses_the_rest_of_a_message) {
    pair(SOCK_DGRAM);
    works(send(ends[0], "glass", 5, 0), "send");
    want(get(ends[1], 2, 0) == 2, "not two bytes");
    refuses(get(ends[1], 64, MSG_DONTWAIT), EAGAIN, "the rest");
}

CHECK(reports_the_whole_size_of_a_message) {
    pair(SOCK_DGRAM);
    works(send(ends[0], "glass", 5, 0), "send");
    want(get(ends[1], 2, MSG_TRUNC) == 5, "not five");
}

CHECK(looks_without_taking) {
    pair(SOCK_STREAM);
    works(write(ends[0], "glass", 5), "write");
    want(get(ends[1], 64, MSG_PEEK) == 5, "nothing to see");
    want(get(ends[1], 64, 0) == 5, "it is gone");
}

CHECK(waits_for_all) {
    pair(SOCK_STREAM);
    pid_t child = (pid_t)works(fork(), "fork");
    if (child == 0) {
        int failed = write(ends[0], "gla", 3) != 3;
        usleep(50000);
        _exit(failed || write(ends[0], "ss", 2) != 2);
    }
    want(works(get(ends[1], 5, MSG_WAITALL), "recvfrom") == 5, "not five bytes");
    waitpid(child, NULL, 0);
}

CHECK(gives_0_when_the_other_end_is_gone) {
    pair(SOCK_STREAM);
    close(ends[0]);
    want(get(ends[1], 64, 0) == 0, "no end");
}

CHECK(gives_up_when_the_time_is_up) {
    struct timeval soon = {0, 20000};
    pair(SOCK_STREAM);
    works(setsockopt(ends[0], SOL_SOCKET, SO_RCVTIMEO, &soon, sizeof soon), "SO_RCVTIMEO");
    refuses(get(ends[0], 64, 0), EAGAIN, "nothing came");
}

CHECK(refuses_to_wait_where_it_must_not) {
    pair(SOCK_STREAM);
    refuses(get(ends[0], 64, MSG_DONTWAIT), EAGAIN, "nothing came");
}

CHECK(refuses_a_stream_without_a_peer) {
    refuses(get((int)works(socket(AF_INET, SOCK_STREAM, 0), "socket"), 64, 0), ENOTCONN, "TCP");
}

CHECK(refuses_what_is_no_socket) {
    works(pipe(ends), "pipe");
    refuses(get(-1, 1, 0), EBADF, "-1");
    refuses(get(ends[0], 1, 0), ENOTSOCK, "a pipe");
}

CHECK(refuses_a_bad_address) {
    pair(SOCK_STREAM);
    works(write(ends[0], "x", 1), "write");
    refuses(syscall(SYS_recvfrom, ends[1], (void *)8, 1, 0, NULL, NULL), EFAULT, "bytes to 8");
}

CHECKS
