/* sched_setscheduler: the scheduling policy of a thread. */
#define CAPABILITY "syscall_sched_setscheduler"
#include "_runner_c.h"

#include <sched.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

static struct sched_param parameter;

static long set(pid_t pid, int policy) {
    return syscall(SYS_sched_setscheduler, pid, policy, &parameter);
}

CHECK(makes_a_batch_of_the_caller) {
    works(set(0, SCHED_BATCH), "sched_setscheduler");
    want(sched_getscheduler(0) == SCHED_BATCH, "another policy");
    works(set(0, SCHED_OTHER), "the way back");
    want(sched_getscheduler(0) == SCHED_OTHER, "not the way back");
}

CHECK(makes_the_caller_idle) {
    works(set(0, SCHED_IDLE), "sched_setscheduler");
    want(sched_getscheduler(0) == SCHED_IDLE, "another policy");
}

CHECK(reaches_a_child) {
    pid_t child = child_that(waits);
    works(set(child, SCHED_BATCH), "sched_setscheduler");
    want(sched_getscheduler(child) == SCHED_BATCH, "another policy");
    want(sched_getscheduler(0) != SCHED_BATCH, "its parent's, too");
}

static void is_a_batch(void) {
    _exit(sched_getscheduler(0) == SCHED_BATCH ? 0 : 1);
}

CHECK(is_inherited) {
    works(set(0, SCHED_BATCH), "sched_setscheduler");
    want(end_of(child_that(is_a_batch)) == 0, "the child has another policy");
}

CHECK(keeps_the_wish_to_start_anew_after_fork) {
    works(set(0, SCHED_BATCH | SCHED_RESET_ON_FORK), "sched_setscheduler");
    want(sched_getscheduler(0) == (SCHED_BATCH | SCHED_RESET_ON_FORK), "the flag was not kept");
}

CHECK(refuses_real_time_without_the_privilege) {
    struct rlimit limit = {0, 0};
    works(setrlimit(RLIMIT_RTPRIO, &limit), "setrlimit");
    be_ordinary();
    parameter.sched_priority = 1;
    refuses(set(0, SCHED_FIFO), EPERM, "SCHED_FIFO");
}

CHECK(refuses_an_unknown_policy) {
    refuses(set(0, 99), EINVAL, "policy 99");
}

CHECK(refuses_a_priority_that_the_policy_has_not) {
    parameter.sched_priority = 5;
    refuses(set(0, SCHED_BATCH), EINVAL, "priority 5");
}

CHECK(refuses_nobody) {
    refuses(set(0x7ffffff0, SCHED_BATCH), ESRCH, "nobody");
}

CHECK(refuses_a_bad_address) {
    refuses(syscall(SYS_sched_setscheduler, 0, SCHED_BATCH, 8), EFAULT, "address 8");
}

CHECKS
