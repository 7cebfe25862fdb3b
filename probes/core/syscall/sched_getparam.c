/* sched_getparam: the priority of a thread. */
#define CAPABILITY "syscall_sched_getparam"
#include "_runner_c.h"

#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

static struct sched_param parameter = {.sched_priority = 77};

CHECK(reports_0_for_an_ordinary_thread) {
    works(syscall(SYS_sched_getparam, 0, &parameter), "sched_getparam");
    want(parameter.sched_priority == 0, "it is %d", parameter.sched_priority);
}

CHECK(reports_that_of_a_child) {
    works(syscall(SYS_sched_getparam, child_that(waits), &parameter), "sched_getparam");
    want(parameter.sched_priority == 0, "it is %d", parameter.sched_priority);
}

CHECK(refuses_nobody) {
    refuses(syscall(SYS_sched_getparam, 0x7ffffff0, &parameter), ESRCH, "nobody");
}

CHECK(refuses_a_negative_number) {
    refuses(syscall(SYS_sched_getparam, -1, &parameter), EINVAL, "-1");
}

CHECK(refuses_no_place) {
    refuses(syscall(SYS_sched_getparam, 0, NULL), EINVAL, "NULL");
}

CHECK(refuses_a_bad_address) {
    refuses(syscall(SYS_sched_getparam, 0, 8), EFAULT, "address 8");
}

CHECKS
