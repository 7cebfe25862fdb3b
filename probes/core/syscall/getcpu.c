/* getcpu: the processor that the caller runs on. */
#define CAPABILITY "syscall_getcpu"
#include "_runner_c.h"

#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

static unsigned cpu = ~0U, node = ~0U;

CHECK(reports_the_processor_the_caller_is_held_to) {
    cpu_set_t all, one;
    works(sched_getaffinity(0, sizeof all, &all), "sched_getaffinity");
    for (unsigned i = 0; i < CPU_SETSIZE; i++) {
        if (!CPU_ISSET(i, &all))
            continue;
        CPU_ZERO(&one);
        CPU_SET(i, &one);
        works(sched_setaffinity(0, sizeof one, &one), "sched_setaffinity");
        works(syscall(SYS_getcpu, &cpu, &node, NULL), "getcpu");
        want(cpu == i, "it says %u, not %u", cpu, i);
    }
}

CHECK(reports_either_alone) {
    works(syscall(SYS_getcpu, &cpu, NULL, NULL), "the processor");
    works(syscall(SYS_getcpu, NULL, &node, NULL), "the node");
    works(syscall(SYS_getcpu, NULL, NULL, NULL), "neither");
    want(cpu != ~0U && node != ~0U, "nothing was written");
}

CHECK(refuses_a_bad_address) {
    refuses(syscall(SYS_getcpu, 8, NULL, NULL), EFAULT, "address 8");
}

CHECKS
