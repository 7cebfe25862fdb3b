/* sched_getaffinity: the processors a thread may run on. */
#define CAPABILITY "syscall_sched_getaffinity"
#include "_runner_c.h"

#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

static cpu_set_t set;

CHECK(names_the_processor_it_runs_on) {
    unsigned cpu;
    long size = works(syscall(SYS_sched_getaffinity, 0, sizeof set, &set), "sched_getaffinity");
    works(syscall(SYS_getcpu, &cpu, NULL, NULL), "getcpu");
    want(size >= 8 && size % 8 == 0, "the size is %ld", size);
    want(CPU_ISSET(cpu, &set), "it runs on %u, which is not in the set", cpu);
}

CHECK(counts_as_libc_does) {
    works(syscall(SYS_sched_getaffinity, 0, sizeof set, &set), "sched_getaffinity");
    long online = sysconf(_SC_NPROCESSORS_CONF);
    want(CPU_COUNT(&set) >= 1 && CPU_COUNT(&set) <= online, "%d processors", CPU_COUNT(&set));
}

CHECK(reports_that_of_a_child) {
    static cpu_set_t own; /* the kernel leaves the rest as it was */
    works(syscall(SYS_sched_getaffinity, 0, sizeof own, &own), "sched_getaffinity");
    works(syscall(SYS_sched_getaffinity, child_that(waits), sizeof set, &set), "of a child");
    want(CPU_EQUAL(&own, &set), "another set");
}

CHECK(refuses_nobody) {
    refuses(syscall(SYS_sched_getaffinity, 0x7ffffff0, sizeof set, &set), ESRCH, "nobody");
}

CHECK(refuses_an_odd_size) {
    refuses(syscall(SYS_sched_getaffinity, 0, sizeof set - 1, &set), EINVAL, "an odd size");
}

CHECK(refuses_a_small_set) {
    refuses(syscall(SYS_sched_getaffinity, 0, 0, &set), EINVAL, "0 bytes");
}

CHECK(refuses_a_bad_address) {
    refuses(syscall(SYS_sched_getaffinity, 0, sizeof set, 8), EFAULT, "address 8");
}

CHECKS
