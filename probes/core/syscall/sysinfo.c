/* sysinfo: how long the machine runs, and how much memory it has. */
#define CAPABILITY "syscall_sysinfo"
#include "_runner_c.h"

#include <sys/syscall.h>
#include <sys/sysinfo.h>
#include <time.h>
#include <unistd.h>

static struct sysinfo got;

CHECK(reports_memory_as_the_library_does) {
    works(syscall(SYS_sysinfo, &got), "sysinfo");
    long total = (long)(got.totalram * got.mem_unit);
    long known = sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGESIZE);
    want(total == known, "%ld and %ld bytes", total, known);
    want(got.freeram <= got.totalram && got.procs > 0, "more is free than there is");
}

CHECK(reports_how_long_the_machine_runs) {
    struct timespec before, after;
    clock_gettime(CLOCK_BOOTTIME, &before);
    works(syscall(SYS_sysinfo, &got), "sysinfo");
    clock_gettime(CLOCK_BOOTTIME, &after);
    want(got.uptime >= before.tv_sec && got.uptime <= after.tv_sec + 1, "%ld s", got.uptime);
}

CHECK(refuses_a_bad_address) {
    refuses(syscall(SYS_sysinfo, (void *)8), EFAULT, "an answer at 8");
}

CHECKS
