/* sched_rr_get_interval: the time slice of a thread. */
#define CAPABILITY "syscall_sched_rr_get_interval"
#include "_runner_c.h"

#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static struct timespec slice = {-1, -1};

CHECK(reports_a_time) {
    works(syscall(SYS_sched_rr_get_interval, 0, &slice), "sched_rr_get_interval");
    want(slice.tv_sec >= 0 && slice.tv_nsec >= 0 && slice.tv_nsec < 1000000000, "no time");
}

CHECK(reports_that_of_a_child) {
    works(syscall(SYS_sched_rr_get_interval, child_that(waits), &slice), "sched_rr_get_interval");
    want(slice.tv_nsec >= 0, "no time");
}

CHECK(refuses_nobody) {
    refuses(syscall(SYS_sched_rr_get_interval, 0x7ffffff0, &slice), ESRCH, "nobody");
}

CHECK(refuses_a_negative_number) {
    refuses(syscall(SYS_sched_rr_get_interval, -1, &slice), EINVAL, "-1");
}

CHECK(refuses_a_bad_address) {
    refuses(syscall(SYS_sched_rr_get_interval, 0, 8), EFAULT, "address 8");
}

CHECKS
