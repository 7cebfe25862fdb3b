/* recvmmsg: several messages at once, up to a time. */
#define CAPABILITY "syscall_recvmmsg"
#include "_runner_c.h"

#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

static int ends[2];
static char one[64], other[64];
static struct iovec parts[2] = {{one, 64}, {other, 64}};
static struct mmsghdr messages[2] = {{.msg_hdr = {.msg_iov = &parts[0], .msg_iovlen = 1}},
                                     {.msg_hdr = {.msg_iov = &parts[1], .msg_iovlen = 1}}};

static long get(int fd, unsigned count, int flags, struct timespec *time) {
    return syscall(SYS_recvmmsg, fd, messages, count, flags, time);
}

/* A pair with two messages on their way. */
static void pair(void) {
    works(socketpair(AF_UNIX, SOCK_DGRAM, 0, ends), "socketpair");
    works(send(ends[0], "one", 3, 0), "send");
    works(send(ends[0], "three", 5, 0), "send");
}

CHECK(gives_them_all) {
    pair();
    want(works(get(ends[1], 2, 0, NULL), "recvmmsg") == 2, "not two");
    want(messages[0].msg_len == 3 && messages[1].msg_len == 5, "other sizes");
    want(!memcmp(one, "one", 3) && !memcmp(other, "three", 5), "other bytes");
}

CHECK(gives_no_more_than_asked_for) {
    pair();
    want(works(get(ends[1], 1, 0, NULL), "recvmmsg") == 1, "not one");
    want(recv(ends[1], one, 64, MSG_DONTWAIT) == 5, "the second is gone");
}

CHECK(waits_for_one_if_asked) {
    pair();
    works(recv(ends[1], one, 64, 0), "recv");
    want(works(get(ends[1], 2, MSG_WAITFORONE, NULL), "recvmmsg") == 1, "not one");
}

CHECK(reports_the_time_left) {
    struct timespec left = {1000, 0};
    pair();
    works(get(ends[1], 2, 0, &left), "recvmmsg");
    want(left.tv_sec > 0 && left.tv_sec < 1000, "%ld s are left of 1000", (long)left.tv_sec);
}

CHECK(refuses_to_wait_where_it_must_not) {
    works(socketpair(AF_UNIX, SOCK_DGRAM, 0, ends), "socketpair");
    refuses(get(ends[1], 2, MSG_DONTWAIT, NULL), EAGAIN, "nothing came");
}

CHECK(refuses_a_time_that_is_none) {
    struct timespec bad = {0, 1000000000};
    pair();
    refuses(get(ends[1], 2, 0, &bad), EINVAL, "10^9 ns");
}

CHECK(refuses_what_is_no_socket) {
    works(pipe(ends), "pipe");
    refuses(get(-1, 2, 0, NULL), EBADF, "-1");
    refuses(get(ends[0], 2, 0, NULL), ENOTSOCK, "a pipe");
}

CHECK(refuses_a_bad_address) {
    pair();
    refuses(syscall(SYS_recvmmsg, ends[1], (void *)8, 1, 0, NULL), EFAULT, "messages at 8");
}

CHECKS
