/* mq_unlink: names of queues that go, and queues that stay while they are open. */
#define CAPABILITY "syscall_mq_unlink"
#include "_runner_c.h"

#include <fcntl.h>
#include <mqueue.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

static char name[64];

static int make(void) {
    snprintf(name, sizeof name, "wardian-probe-%d", (int)getpid());
    return (int)works(syscall(SYS_mq_open, name, O_RDWR | O_CREAT | O_EXCL, 0600, NULL), "mq_open");
}

CHECK(takes_the_name_away) {
    make();
    works(syscall(SYS_mq_unlink, name), "mq_unlink");
    refuses(syscall(SYS_mq_open, name, O_RDWR, 0, NULL), ENOENT, "mq_open");
}

CHECK(leaves_an_open_queue) {
    int queue = make();
    works(syscall(SYS_mq_unlink, name), "mq_unlink");
    works(mq_send(queue, "x", 1, 0), "mq_send");
}

CHECK(refuses_a_name_that_nobody_has) {
    refuses(syscall(SYS_mq_unlink, "wardian-no-such-queue"), ENOENT, "no queue");
}

CHECK(refuses_a_bad_address) {
    refuses(syscall(SYS_mq_unlink, (void *)8), EFAULT, "a name at 8");
}

CHECKS
