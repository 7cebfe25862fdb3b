/* The private socket between supervisor, reaper and guest-to-be; it never survives an execve. */
#define _GNU_SOURCE
#include "fortify.h"
#include "channel.h"
#include "fail.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

void channel_pair(int ends[2]) {
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0)
        die(errno, "supervisor", "making the control socket");
    int on = 1;
    if (setsockopt(ends[0], SOL_SOCKET, SO_PASSCRED, &on, sizeof on) < 0)
        die(errno, "supervisor", "asking for credentials on the control socket");
}

/* `room` is for MAX_PASSED of them. */
static void attach(struct msghdr *header, char *room, const int *fds, size_t fd_count) {
    if (fd_count == 0 || fd_count > MAX_PASSED)
        return;
    header->msg_control = room;
    header->msg_controllen = CMSG_SPACE(sizeof(int) * fd_count);
    struct cmsghdr *cmsg = CMSG_FIRSTHDR(header);
    cmsg->cmsg_level = SOL_SOCKET;
    cmsg->cmsg_type = SCM_RIGHTS;
    cmsg->cmsg_len = CMSG_LEN(sizeof(int) * fd_count);
    memcpy(CMSG_DATA(cmsg), fds, sizeof(int) * fd_count);
}

void channel_send(int fd, const struct message *message, const int *fds, size_t fd_count) {
    union {
        char bytes[CMSG_SPACE(sizeof(int) * MAX_PASSED)];
        struct cmsghdr align;
    } control = {0};
    struct iovec part = {.iov_base = (void *)(uintptr_t)message, .iov_len = sizeof *message};
    struct msghdr header = {.msg_iov = &part, .msg_iovlen = 1};
    attach(&header, control.bytes, fds, fd_count);
    long sent;
    while ((sent = syscall(SYS_sendmsg, fd, &header, MSG_NOSIGNAL)) < 0 && errno == EINTR)
        ;
    /* The other side would wait for it. Without descriptors, a message is always taken, unless the peer is
     * gone. */
    if (sent < 0 && fd_count > 0 && errno != EPIPE && errno != ECONNRESET)
        die(errno, "descriptors", "passing %d descriptors between the launcher's processes", (int)fd_count);
}

bool channel_pass(int fd, char what, const int *fds, size_t fd_count) {
    union {
        char bytes[CMSG_SPACE(sizeof(int) * MAX_PASSED)];
        struct cmsghdr align;
    } control = {0};
    struct iovec part = {.iov_base = &what, .iov_len = 1};
    struct msghdr header = {.msg_iov = &part, .msg_iovlen = 1};
    attach(&header, control.bytes, fds, fd_count);
    return syscall(SYS_sendmsg, fd, &header, MSG_NOSIGNAL) == 1;
}

bool channel_has_room(int fd) {
    struct pollfd out = {.fd = fd, .events = POLLOUT};
    return poll(&out, 1, 0) > 0 && (out.revents & POLLOUT);
}

bool channel_receive(int fd, struct message *message, int *fds, size_t *fd_count, pid_t *sender) {
    union {
        char bytes[CMSG_SPACE(sizeof(int) * MAX_PASSED) + CMSG_SPACE(sizeof(struct ucred))];
        struct cmsghdr align;
    } control;
    struct iovec part = {.iov_base = message, .iov_len = sizeof *message};
    struct msghdr header = {.msg_iov = &part,
                            .msg_iovlen = 1,
                            .msg_control = control.bytes,
                            .msg_controllen = sizeof control.bytes};
    ssize_t got;
    /* A peer that ends with unread messages resets the connection. The error comes once, before the last
     * messages it sent, which we want. */
    while ((got = recvmsg(fd, &header, MSG_CMSG_CLOEXEC)) < 0 && (errno == EINTR || errno == ECONNRESET))
        ;
    *fd_count = 0;
    *sender = 0;
    if (got != (ssize_t)sizeof *message)
        return false;
    for (struct cmsghdr *c = CMSG_FIRSTHDR(&header); c; c = CMSG_NXTHDR(&header, c)) {
        if (c->cmsg_level != SOL_SOCKET)
            continue;
        if (c->cmsg_type == SCM_RIGHTS) {
            *fd_count = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
            memcpy(fds, CMSG_DATA(c), sizeof(int) * *fd_count);
        } else if (c->cmsg_type == SCM_CREDENTIALS) {
            struct ucred credentials;
            memcpy(&credentials, CMSG_DATA(c), sizeof credentials);
            *sender = credentials.pid;
        }
    }
    return true;
}

void give_turn(int fd, int passed) {
    struct message go = {.kind = MSG_GO};
    channel_send(fd, &go, &passed, passed >= 0);
}

int wait_for_turn(int fd) {
    struct message go;
    int passed[MAX_PASSED];
    size_t count;
    pid_t sender;
    if (!channel_receive(fd, &go, passed, &count, &sender) || go.kind != MSG_GO)
        _exit(125); /* the peer failed, and has reported it */
    return count == 1 ? passed[0] : -1;
}
