/* sched_getscheduler: the scheduling policy of a thread. */
#define CAPABILITY "syscall_sched_getscheduler"
#include "_runner_c.h"

#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

CHECK(reports_the_callers_own) {
    struct sched_param parameter = {0};
    works(sched_setscheduler(0, SCHED_BATCH, &parameter), "sched_setscheduler");
    want(works(syscall(SYS_sched_getscheduler, 0), "sched_getscheduler") == SCHED_BATCH, "another");
    want(syscall(SYS_sched_getscheduler, getpid()) == SCHED_BATCH, "another by number");
}

CHECK(reports_that_of_a_child) {
    struct sched_param parameter = {0};
    pid_t child = child_that(waits);
    works(sched_setscheduler(child, SCHED_IDLE, &parameter), "sched_setscheduler");
    want(works(syscall(SYS_sched_getscheduler, child), "sched_getscheduler") == SCHED_IDLE,
         "another");
}

CHECK(refuses_nobody) {
    refuses(syscall(SYS_sched_getscheduler, 0x7ffffff0), ESRCH, "nobody");
}

CHECK(refuses_a_negative_number) {
    refuses(syscall(SYS_sched_getscheduler, -1), EINVAL, "-1");
}

CHECKS
