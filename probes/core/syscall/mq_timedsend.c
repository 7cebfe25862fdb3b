/* mq_timedsend: messages that are queued by priority, or not in time. */
#define CAPABILITY "syscall_mq_timedsend"
#include "_runner_c.h"

#include <fcntl.h>
#include <mqueue.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <time.h>
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

static long put(int queue, const char *text, size_t size, unsigned priority, void *until) {
    return syscall(SYS_mq_timedsend, queue, text, size, priority, until);
}

CHECK(queues_by_priority) {
    char text[16];
    unsigned priority;
    int queue = make(0);
    works(put(queue, "low", 3, 1, NULL), "mq_timedsend");
    works(put(queue, "high", 4, 9, NULL), "mq_timedsend");
    want(mq_receive(queue, text, sizeof text, &priority) == 4, "the lower one comes first");
    want(priority == 9, "priority %u", priority);
}

CHECK(gives_up_when_the_time_is_up) {
    struct timespec past = {1, 0};
    int queue = make(0);
    works(put(queue, "x", 1, 0, NULL), "mq_timedsend");
    works(put(queue, "x", 1, 0, NULL), "mq_timedsend");
    refuses(put(queue, "x", 1, 0, &past), ETIMEDOUT, "a full queue");
}

CHECK(refuses_to_wait_where_it_must_not) {
    int queue = make(O_NONBLOCK);
    works(put(queue, "x", 1, 0, NULL), "mq_timedsend");
    works(put(queue, "x", 1, 0, NULL), "mq_timedsend");
    refuses(put(queue, "x", 1, 0, NULL), EAGAIN, "a full queue");
}

CHECK(refuses_a_message_too_long) {
    refuses(put(make(0), "01234567890123456", 17, 0, NULL), EMSGSIZE, "17 bytes of 16");
}

CHECK(refuses_a_priority_too_high) {
    refuses(put(make(0), "x", 1, 32768, NULL), EINVAL, "priority 32768");
}

CHECK(refuses_a_time_that_is_none) {
    struct timespec bad = {0, 1000000000};
    refuses(put(make(0), "x", 1, 0, &bad), EINVAL, "10^9 ns");
}

CHECK(refuses_what_is_no_queue) {
    int ends[2];
    works(pipe(ends), "pipe");
    refuses(put(-1, "x", 1, 0, NULL), EBADF, "-1");
    refuses(put(ends[1], "x", 1, 0, NULL), EBADF, "a pipe");
}

CHECKS
