/* sched_get_priority_min: the lowest priority of a policy. */
#define CAPABILITY "syscall_sched_get_priority_min"
#include "_runner_c.h"

#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

static long ask(int policy) {
    return syscall(SYS_sched_get_priority_min, policy);
}

CHECK(is_1_for_real_time) {
    want(works(ask(SCHED_FIFO), "SCHED_FIFO") == 1, "SCHED_FIFO has another");
    want(works(ask(SCHED_RR), "SCHED_RR") == 1, "SCHED_RR has another");
}

CHECK(is_0_for_the_others) {
    want(works(ask(SCHED_OTHER), "SCHED_OTHER") == 0, "SCHED_OTHER has another");
    want(works(ask(SCHED_BATCH), "SCHED_BATCH") == 0, "SCHED_BATCH has another");
    want(works(ask(SCHED_IDLE), "SCHED_IDLE") == 0, "SCHED_IDLE has another");
}

CHECK(refuses_an_unknown_policy) {
    refuses(ask(99), EINVAL, "policy 99");
    refuses(ask(-1), EINVAL, "policy -1");
}

CHECKS
