/* recvmsg: messages into several places, with descriptors, credentials and flags. */
#define CAPABILITY "syscall_recvmsg"
#include "_runner_c.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

/* Loopback has many addresses. Each process takes one of its own, since ports may be few. */
#define HERE (INADDR_LOOPBACK | ((unsigned)getpid() & 0xffff) << 8)

static int ends[2];
static char bytes[64];
static struct iovec part = {bytes, sizeof bytes};
static struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
static union {
    struct cmsghdr header;
    char room[512];
} control;

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

static long get(int fd, int flags) {
    return syscall(SYS_recvmsg, fd, &message, flags);
}

/* Send a byte and these descriptors. */
static void pass(const int *fds, size_t count) {
    struct iovec one = {(char *)"x", 1};
    struct msghdr sent = {.msg_iov = &one, .msg_iovlen = 1};
    sent.msg_control = control.room;
    sent.msg_controllen = CMSG_SPACE(count * sizeof *fds);
    control.header.cmsg_level = SOL_SOCKET;
    control.header.cmsg_type = SCM_RIGHTS;
    control.header.cmsg_len = CMSG_LEN(count * sizeof *fds);
    memcpy(CMSG_DATA(&control.header), fds, count * sizeof *fds);
    works(sendmsg(ends[0], &sent, 0), "sendmsg");
    memset(control.room, 0, sizeof control.room);
    message.msg_control = control.room;
    message.msg_controllen = sizeof control.room;
}

CHECK(spreads_bytes_over_several_places) {
    char other[64];
    struct iovec parts[2] = {{bytes, 2}, {other, 62}};
    message.msg_iov = parts;
    message.msg_iovlen = 2;
    pair(SOCK_STREAM);
    works(write(ends[0], "glass", 5), "write");
    want(works(get(ends[1], 0), "recvmsg") == 5, "not five bytes");
    want(!memcmp(bytes, "gl", 2) && !memcmp(other, "ass", 3), "other bytes");
}

CHECK(reports_who_sent_it) {
    struct sockaddr_in at, own, from = {0};
    int one = receiver(&own), fd = receiver(&at);
    works(sendto(one, "x", 1, 0, (void *)&at, sizeof at), "sendto");
    message.msg_name = &from;
    message.msg_namelen = sizeof from;
    works(get(fd, 0), "recvmsg");
    want(from.sin_port == own.sin_port && message.msg_namelen == sizeof from, "another");
}

CHECK(marks_a_message_that_was_cut) {
    pair(SOCK_DGRAM);
    part.iov_len = 2;
    works(send(ends[0], "glass", 5, 0), "send");
    want(get(ends[1], 0) == 2 && message.msg_flags & MSG_TRUNC, "flags %#x", message.msg_flags);
}

CHECK(marks_the_end_of_a_record) {
    pair(SOCK_SEQPACKET);
    works(send(ends[0], "glass", 5, 0), "send");
    want(get(ends[1], 0) == 5 && !(message.msg_flags & MSG_TRUNC), "cut");
}

CHECK(takes_descriptors) {
    int pipes[2], fd;
    pair(SOCK_STREAM);
    works(pipe(pipes), "pipe");
    pass(&pipes[1], 1);
    works(get(ends[1], 0), "recvmsg");
    struct cmsghdr *came = CMSG_FIRSTHDR(&message);
    want(came && came->cmsg_type == SCM_RIGHTS, "no descriptor came");
    memcpy(&fd, CMSG_DATA(came), sizeof fd);
    works(write(fd, "y", 1), "write");
    want(read(pipes[0], bytes, 1) == 1 && bytes[0] == 'y', "another pipe");
}

CHECK(takes_descriptors_that_close_on_exec) {
    int zero = 0, fd;
    pair(SOCK_STREAM);
    pass(&zero, 1);
    works(get(ends[1], MSG_CMSG_CLOEXEC), "recvmsg");
    struct cmsghdr *came = CMSG_FIRSTHDR(&message);
    want(came && came->cmsg_type == SCM_RIGHTS, "no descriptor came");
    memcpy(&fd, CMSG_DATA(came), sizeof fd);
    want(fcntl(fd, F_GETFD) == FD_CLOEXEC, "it does not");
}

CHECK(marks_descriptors_that_there_is_no_room_for) {
    int three[3] = {0, 1, 2};
    pair(SOCK_STREAM);
    pass(three, 3);
    message.msg_controllen = CMSG_LEN(sizeof(int));
    works(get(ends[1], 0), "recvmsg");
    want(message.msg_flags & MSG_CTRUNC, "flags %#x", message.msg_flags);
}

CHECK(reports_credentials_if_asked) {
    int on = 1;
    struct ucred got = {0};
    pair(SOCK_STREAM);
    works(setsockopt(ends[1], SOL_SOCKET, SO_PASSCRED, &on, sizeof on), "SO_PASSCRED");
    works(write(ends[0], "x", 1), "write");
    message.msg_control = control.room;
    message.msg_controllen = sizeof control.room;
    works(get(ends[1], 0), "recvmsg");
    struct cmsghdr *came = CMSG_FIRSTHDR(&message);
    want(came && came->cmsg_type == SCM_CREDENTIALS, "none");
    memcpy(&got, CMSG_DATA(came), sizeof got);
    want(got.pid == getpid() && got.uid == getuid(), "another's");
}

CHECK(looks_without_taking) {
    pair(SOCK_STREAM);
    works(write(ends[0], "glass", 5), "write");
    want(get(ends[1], MSG_PEEK) == 5, "nothing to see");
    want(get(ends[1], 0) == 5, "it is gone");
}

CHECK(refuses_to_wait_where_it_must_not) {
    pair(SOCK_STREAM);
    refuses(get(ends[0], MSG_DONTWAIT), EAGAIN, "nothing came");
}

CHECK(refuses_too_many_places) {
    pair(SOCK_STREAM);
    message.msg_iovlen = 1025;
    refuses(get(ends[0], MSG_DONTWAIT), EMSGSIZE, "1025 places");
}

CHECK(refuses_what_is_no_socket) {
    works(pipe(ends), "pipe");
    refuses(get(-1, 0), EBADF, "-1");
    refuses(get(ends[0], 0), ENOTSOCK, "a pipe");
}

CHECK(refuses_a_bad_address) {
    pair(SOCK_STREAM);
    works(write(ends[0], "x", 1), "write");
    refuses(syscall(SYS_recvmsg, ends[1], (void *)8, 0), EFAULT, "a message at 8");
    part.iov_base = (void *)8;
    refuses(get(ends[1], 0), EFAULT, "bytes to 8");
}

CHECKS
