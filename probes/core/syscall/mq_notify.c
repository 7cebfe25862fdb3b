/* mq_notify: a signal when a message comes to an empty queue. */
#define CAPABILITY "syscall_mq_notify"
#include "_runner_c.h"

#include <fcntl.h>
#include <mqueue.h>
#include <signal.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

static volatile sig_atomic_t rang;
static struct sigevent signal_me = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1};

static void ring(int number) {
    (void)number;
    rang++;
}

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

CHECK(sends_a_signal_once) {
    char text[16];
    int queue = make(0);
    signal(SIGUSR1, ring);
    works(syscall(SYS_mq_notify, queue, &signal_me), "mq_notify");
    works(mq_send(queue, "x", 1, 0), "mq_send");
    want(rang == 1, "it rang %d times", rang);
    works(mq_receive(queue, text, sizeof text, NULL), "mq_receive");
    works(mq_send(queue, "x", 1, 0), "mq_send");
    want(rang == 1, "it rang again");
}

CHECK(can_be_taken_back) {
    int queue = make(0);
    signal(SIGUSR1, ring);
    works(syscall(SYS_mq_notify, queue, &signal_me), "mq_notify");
    works(syscall(SYS_mq_notify, queue, NULL), "mq_notify to take it back");
    works(mq_send(queue, "x", 1, 0), "mq_send");
    want(rang == 0, "it rang");
}

CHECK(refuses_a_second_one) {
    int queue = make(0);
    works(syscall(SYS_mq_notify, queue, &signal_me), "mq_notify");
    refuses(syscall(SYS_mq_notify, queue, &signal_me), EBUSY, "again");
}

CHECK(refuses_unknown_ways_and_signals) {
    struct sigevent way = {.sigev_notify = 99};
    struct sigevent number = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = 9999};
    int queue = make(0);
    refuses(syscall(SYS_mq_notify, queue, &way), EINVAL, "way 99");
    refuses(syscall(SYS_mq_notify, queue, &number), EINVAL, "signal 9999");
}

CHECK(refuses_what_is_no_queue) {
    refuses(syscall(SYS_mq_notify, -1, &signal_me), EBADF, "-1");
}

CHECKS
