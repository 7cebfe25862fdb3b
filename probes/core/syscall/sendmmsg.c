/* sendmmsg: several messages at once. */
#define CAPABILITY "syscall_sendmmsg"
#include "_runner_c.h"

#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

static int ends[2];
static char bytes[64];
static struct iovec parts[2] = {{(char *)"one", 3}, {(char *)"three", 5}};
static struct mmsghdr messages[2] = {{.msg_hdr = {.msg_iov = &parts[0], .msg_iovlen = 1}},
                                     {.msg_hdr = {.msg_iov = &parts[1], .msg_iovlen = 1}}};

static long put(int fd, unsigned count, int flags) {
    return syscall(SYS_sendmmsg, fd, messages, count, flags);
}

static void pair(void) {
    works(socketpair(AF_UNIX, SOCK_DGRAM, 0, ends), "socketpair");
}

CHECK(sends_them_all) {
    pair();
    want(works(put(ends[0], 2, 0), "sendmmsg") == 2, "not two");
    want(recv(ends[1], bytes, 64, 0) == 3 && !memcmp(bytes, "one", 3), "another comes first");
    want(recv(ends[1], bytes, 64, 0) == 5 && !memcmp(bytes, "three", 5), "another comes next");
}

CHECK(reports_how_much_of_each) {
    pair();
    works(put(ends[0], 2, 0), "sendmmsg");
    want(messages[0].msg_len == 3 && messages[1].msg_len == 5, "other sizes");
}

CHECK(sends_none_if_asked_for_none) {
    pair();
    want(works(put(ends[0], 0, 0), "sendmmsg") == 0, "not 0");
}

CHECK(stops_at_the_first_that_fails) {
    pair();
    parts[1].iov_base = (void *)8;
    want(works(put(ends[0], 2, 0), "sendmmsg") == 1, "not one");
    want(recv(ends[1], bytes, 64, 0) == 3, "another message");
}

CHECK(refuses_a_peer_that_is_gone) {
    pair();
    close(ends[1]);
    refuses(put(ends[0], 2, MSG_NOSIGNAL), ECONNREFUSED, "nobody");
}

CHECK(refuses_what_is_no_socket) {
    works(pipe(ends), "pipe");
    refuses(put(-1, 2, 0), EBADF, "-1");
    refuses(put(ends[1], 2, 0), ENOTSOCK, "a pipe");
}

CHECK(refuses_a_bad_address) {
    pair();
    refuses(syscall(SYS_sendmmsg, ends[0], (void *)8, 1, 0), EFAULT, "messages at 8");
}

CHECKS
