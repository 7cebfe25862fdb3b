/* sendmsg: messages from several places, with descriptors and credentials. */
#define CAPABILITY "syscall_sendmsg"
#include "_runner_c.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

/* Loopback has many addresses. Each process takes one of its own, since ports may be few. */
#define HERE (INADDR_LOOPBACK | ((unsigned)getpid() & 0xffff) << 8)

static int ends[2];
static char bytes[64];
static struct iovec part = {(char *)"x", 1};
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

/* Put data of this kind beside the message. */
static void attach(int kind, const void *data, size_t size) {
    message.msg_control = control.room;
    message.msg_controllen = CMSG_SPACE(size);
    control.header.cmsg_level = SOL_SOCKET;
    control.header.cmsg_type = kind;
    control.header.cmsg_len = CMSG_LEN(size);
    memcpy(CMSG_DATA(&control.header), data, size);
}

static long put(int fd, int flags) {
    return syscall(SYS_sendmsg, fd, &message, flags);
}

/* What came beside a message. */
static struct cmsghdr *received(int fd) {
    static struct iovec into = {bytes, sizeof bytes};
    static struct msghdr got = {.msg_iov = &into, .msg_iovlen = 1};
    memset(control.room, 0, sizeof control.room);
    got.msg_control = control.room;
    got.msg_controllen = sizeof control.room;
    works(recvmsg(fd, &got, 0), "recvmsg");
    return CMSG_FIRSTHDR(&got);
}

CHECK(gathers_bytes_from_several_places) {
    struct iovec parts[3] = {{(char *)"gl", 2}, {(char *)"a", 1}, {(char *)"ss", 2}};
    message.msg_iov = parts;
    message.msg_iovlen = 3;
    pair(SOCK_STREAM);
    want(works(put(ends[0], 0), "sendmsg") == 5, "not five bytes");
    want(read(ends[1], bytes, 64) == 5 && !memcmp(bytes, "glass", 5), "other bytes");
}

CHECK(sends_to_an_address) {
    struct sockaddr_in at;
    int to = receiver(&at), from = (int)works(socket(AF_INET, SOCK_DGRAM, 0), "socket");
    message.msg_name = &at;
    message.msg_namelen = sizeof at;
    works(put(from, 0), "sendmsg");
    want(recv(to, bytes, 64, 0) == 1 && bytes[0] == 'x', "other bytes");
}

CHECK(hands_a_descriptor_over) {
    struct stat mine, theirs;
    int got, fd = (int)works(memfd_create("passed", 0), "memfd_create");
    pair(SOCK_STREAM);
    attach(SCM_RIGHTS, &fd, sizeof fd);
    works(put(ends[0], 0), "sendmsg");
    struct cmsghdr *came = received(ends[1]);
    want(came && came->cmsg_type == SCM_RIGHTS, "no descriptor came");
    memcpy(&got, CMSG_DATA(came), sizeof got);
    works(fstat(fd, &mine), "fstat");
    works(fstat(got, &theirs), "fstat");
    want(got != fd && mine.st_ino == theirs.st_ino, "another file");
}

CHECK(hands_several_descriptors_over) {
    int fds[3] = {0, 1, 2};
    pair(SOCK_DGRAM);
    attach(SCM_RIGHTS, fds, sizeof fds);
    works(put(ends[0], 0), "sendmsg");
    struct cmsghdr *came = received(ends[1]);
    want(came && came->cmsg_len == CMSG_LEN(sizeof fds), "not three");
}

CHECK(keeps_a_descriptor_that_was_closed_on_the_way) {
    int got, pipes[2];
    pair(SOCK_STREAM);
    works(pipe(pipes), "pipe");
    works(write(pipes[1], "y", 1), "write");
    attach(SCM_RIGHTS, &pipes[0], sizeof pipes[0]);
    works(put(ends[0], 0), "sendmsg");
    close(pipes[0]);
    struct cmsghdr *came = received(ends[1]);
    want(came && came->cmsg_type == SCM_RIGHTS, "no descriptor came");
    memcpy(&got, CMSG_DATA(came), sizeof got);
    want(read(got, bytes, 1) == 1 && bytes[0] == 'y', "another pipe");
}

CHECK(reports_who_sends) {
    int on = 1;
    struct ucred me = {getpid(), getuid(), getgid()}, got = {0};
    pair(SOCK_STREAM);
    works(setsockopt(ends[1], SOL_SOCKET, SO_PASSCRED, &on, sizeof on), "SO_PASSCRED");
    attach(SCM_CREDENTIALS, &me, sizeof me);
    works(put(ends[0], 0), "sendmsg");
    struct cmsghdr *came = received(ends[1]);
    want(came && came->cmsg_type == SCM_CREDENTIALS, "no credentials came");
    memcpy(&got, CMSG_DATA(came), sizeof got);
    want(got.pid == me.pid && got.uid == me.uid && got.gid == me.gid, "other ones");
}

CHECK(refuses_a_closed_descriptor_to_hand_over) {
    int fd = 999;
    pair(SOCK_STREAM);
    attach(SCM_RIGHTS, &fd, sizeof fd);
    refuses(put(ends[0], 0), EBADF, "descriptor 999");
}

CHECK(refuses_another_s_credentials) {
    pair(SOCK_STREAM);
    if (geteuid() == 0 && setuid(65534) < 0)
        unavailable("root here can't become anybody else");
    struct ucred other = {getppid(), getuid(), getgid()};
    attach(SCM_CREDENTIALS, &other, sizeof other);
    refuses(put(ends[0], 0), EPERM, "its parent's");
}

CHECK(refuses_broken_control_data) {
    int fd = 0;
    pair(SOCK_STREAM);
    attach(SCM_RIGHTS, &fd, sizeof fd);
    control.header.cmsg_len = 1;
    refuses(put(ends[0], 0), EINVAL, "a header of 1 byte");
}

CHECK(refuses_too_many_places) {
    pair(SOCK_STREAM);
    message.msg_iovlen = 1025;
    refuses(put(ends[0], 0), EMSGSIZE, "1025 places");
}

CHECK(refuses_a_datagram_to_nobody) {
    refuses(put((int)works(socket(AF_INET, SOCK_DGRAM, 0), "socket"), 0), EDESTADDRREQ, "UDP");
}

CHECK(refuses_a_peer_that_is_gone) {
    pair(SOCK_STREAM);
    close(ends[1]);
    refuses(put(ends[0], MSG_NOSIGNAL), EPIPE, "MSG_NOSIGNAL");
}

CHECK(refuses_what_is_no_socket) {
    works(pipe(ends), "pipe");
    refuses(put(-1, 0), EBADF, "-1");
    refuses(put(ends[1], 0), ENOTSOCK, "a pipe");
}

CHECK(refuses_a_bad_address) {
    pair(SOCK_STREAM);
    refuses(syscall(SYS_sendmsg, ends[0], (void *)8, 0), EFAULT, "a message at 8");
    part.iov_base = (void *)8;
    refuses(put(ends[0], 0), EFAULT, "bytes at 8");
}

CHECKS
