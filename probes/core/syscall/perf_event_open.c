/* perf_event_open: counters of the processor and the kernel. */
#define CAPABILITY "syscall_perf_event_open"
#include "_runner_c.h"

#include <linux/perf_event.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

static struct perf_event_attr clock = {.type = PERF_TYPE_SOFTWARE,
                                       .size = sizeof clock,
                                       .config = PERF_COUNT_SW_TASK_CLOCK,
                                       .exclude_kernel = 1};

static long count(struct perf_event_attr *what) {
    return syscall(SYS_perf_event_open, what, 0, -1, -1, 0);
}

static volatile unsigned sum;

CHECK(counts_the_callers_time) {
    uint64_t before = 0, after = 0;
    int fd = (int)works(count(&clock), "perf_event_open");
    works(read(fd, &before, sizeof before), "read");
    for (unsigned i = 0; i < 1000000; i++)
        sum += i;
    works(read(fd, &after, sizeof after), "read");
    want(after > before, "nothing was counted");
}

CHECK(refuses_a_structure_of_an_unknown_size) {
    clock.size = 8;
    refuses(count(&clock), E2BIG, "8 bytes");
}

CHECK(refuses_unknown_flags) {
    refuses(syscall(SYS_perf_event_open, &clock, 0, -1, -1, 1UL << 40), EINVAL, "flag 40");
}

CHECK(refuses_a_bad_address) {
    refuses(count((struct perf_event_attr *)8), EFAULT, "address 8");
}

CHECKS
