/* sched_setparam: the priority of a thread. */
#define CAPABILITY "syscall_sched_setparam"
#include "_runner_c.h"

#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

static struct sched_param parameter;

CHECK(takes_0_for_an_ordinary_thread) {
    struct sched_param current = {.sched_priority = 77};
    works(syscall(SYS_sched_setparam, 0, &parameter), "sched_setparam");
    works(sched_getparam(0, &current), "sched_getparam");
    want(current.sched_priority == 0, "it is %d", current.sched_priority);
}

CHECK(leaves_the_policy) {
    works(sched_setscheduler(0, SCHED_BATCH, &parameter), "sched_setscheduler");
    works(syscall(SYS_sched_setparam, 0, &parameter), "sched_setparam");
    want(sched_getscheduler(0) == SCHED_BATCH, "another policy");
}

CHECK(reaches_a_child) {
    works(syscall(SYS_sched_setparam, child_that(waits), &parameter), "sched_setparam");
}

CHECK(refuses_a_priority_that_the_policy_has_not) {
    parameter.sched_priority = 5;
    refuses(syscall(SYS_sched_setparam, 0, &parameter), EINVAL, "priority 5");
}

CHECK(refuses_nobody) {
    refuses(syscall(SYS_sched_setparam, 0x7ffffff0, &parameter), ESRCH, "nobody");
}

CHECK(refuses_a_negative_number) {
    refuses(syscall(SYS_sched_setparam, -1, &parameter), EINVAL, "-1");
}

CHECK(refuses_a_bad_address) {
    refuses(syscall(SYS_sched_setparam, 0, 8), EFAULT, "address 8");
}

CHECKS
