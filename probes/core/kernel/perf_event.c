/* The processor and the kernel can be watched through performance counters. */
#define CAPABILITY "kernel_perf_event"
#include "_runner_c.h"

#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <unistd.h>

static void exercise(void) {
    struct perf_event_attr clock = {.type = PERF_TYPE_SOFTWARE,
                                    .size = sizeof clock,
                                    .config = PERF_COUNT_SW_TASK_CLOCK,
                                    .disabled = 1,
                                    .exclude_kernel = 1,
                                    .exclude_hv = 1};
    if (syscall(SYS_perf_event_open, &clock, 0, -1, -1, 0) < 0)
        blocked("perf_event_open");
    allowed("opened a counter of its own time");
}

PROBE(exercise)
