/* mq_getsetattr: what a queue holds, and whether it is waited on. */
#define CAPABILITY "syscall_mq_getsetattr"
#include "_runner_c.h"

#include <fcntl.h>
#include <mqueue.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

/* A queue whose name is gone already. */
static int make(int flags) {
    struct mq_attr small = {.mq_maxmsg = 2, .mq_msgsize = 16};
    char name[64];
    snprintf(name, sizeof name, "wardian-probe-%d", (int)getpid());
    int queue = (int)syscall(SYS_mq_open, name, O_CREAT | O_EXCL | O_RDWR | flags, 0600, &small);
    int number = errno;
    syscall(SYS_mq_unlink, name);
    errno = number;
    return (int)works(queue, "mq_open");
}

CHECK(reports_what_a_queue_holds) {
    struct mq_attr got = {0};
    int queue = make(0);
    works(mq_send(queue, "x", 1, 0), "mq_send");
    works(syscall(SYS_mq_getsetattr, queue, NULL, &got), "mq_getsetattr");
    want(got.mq_maxmsg == 2 && got.mq_msgsize == 16 && got.mq_curmsgs == 1, "other numbers");
}

CHECK(changes_whether_it_waits) {
    struct mq_attr hasty = {.mq_flags = O_NONBLOCK}, old = {0};
    char text[16];
    int queue = make(0);
    works(syscall(SYS_mq_getsetattr, queue, &hasty, &old), "mq_getsetattr");
    want(old.mq_flags == 0, "it did not wait before");
    refuses(mq_receive(queue, text, sizeof text, NULL), EAGAIN, "an empty queue");
}

CHECK(refuses_other_flags) {
    struct mq_attr odd = {.mq_flags = O_APPEND};
    refuses(syscall(SYS_mq_getsetattr, make(0), &odd, NULL), EINVAL, "O_APPEND");
}

CHECK(refuses_what_is_no_queue) {
    struct mq_attr got;
    refuses(syscall(SYS_mq_getsetattr, -1, NULL, &got), EBADF, "-1");
}

CHECKS
