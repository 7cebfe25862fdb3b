/* mq_timedreceive: messages by priority, waited for up to a time. */
#define CAPABILITY "syscall_mq_timedreceive"
#include "_runner_c.h"

#include <fcntl.h>
#include <mqueue.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static char text[16];
static unsigned priority;

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

static long get(int queue, size_t room, void *until) {
    return syscall(SYS_mq_timedreceive, queue, text, room, &priority, until);
}

CHECK(gives_message_and_priority) {
    int queue = make(0);
    works(mq_send(queue, "glass", 5, 3), "mq_send");
    want(works(get(queue, 16, NULL), "mq_timedreceive") == 5, "not five bytes");
    want(memcmp(text, "glass", 5) == 0 && priority == 3, "another message");
}

CHECK(gives_the_oldest_of_one_priority) {
    int queue = make(0);
    works(mq_send(queue, "one", 3, 0), "mq_send");
    works(mq_send(queue, "two", 3, 0), "mq_send");
    want(get(queue, 16, NULL) == 3 && memcmp(text, "one", 3) == 0, "another comes first");
}

CHECK(waits_for_a_message) {
    int queue = make(0);
    pid_t child = (pid_t)works(fork(), "fork");
    if (child == 0) {
        usleep(50000);
        _exit(mq_send(queue, "glass", 5, 0) != 0);
    }
    want(works(get(queue, 16, NULL), "mq_timedreceive") == 5, "not five bytes");
    waitpid(child, NULL, 0);
}

CHECK(gives_up_when_the_time_is_up) {
    struct timespec past = {1, 0};
    refuses(get(make(0), 16, &past), ETIMEDOUT, "an empty queue");
}

CHECK(refuses_to_wait_where_it_must_not) {
    refuses(get(make(O_NONBLOCK), 16, NULL), EAGAIN, "an empty queue");
}

CHECK(refuses_too_little_room) {
    refuses(get(make(0), 15, NULL), EMSGSIZE, "15 bytes for 16");
}

CHECK(refuses_what_is_no_queue) {
    refuses(get(-1, 16, NULL), EBADF, "-1");
}

CHECKS
