/* getrlimit: the limits of the process. */
#define CAPABILITY "syscall_getrlimit"
#include "_runner_c.h"

#include <stdio.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

static struct rlimit limit;

CHECK(agrees_with_proc) {
    char line[128];
    unsigned long soft = 0, hard = 0;
    FILE *file = fopen("/proc/self/limits", "r");
    while (file && fgets(line, sizeof line, file))
        sscanf(line, "Max open files %lu %lu", &soft, &hard);
    works(syscall(SYS_getrlimit, RLIMIT_NOFILE, &limit), "getrlimit");
    want(limit.rlim_cur == soft && limit.rlim_max == hard, "/proc says %lu, %lu", soft, hard);
}

CHECK(reports_what_was_set) {
    struct rlimit few = {20, 30};
    works(setrlimit(RLIMIT_NOFILE, &few), "setrlimit");
    works(syscall(SYS_getrlimit, RLIMIT_NOFILE, &limit), "getrlimit");
    want(limit.rlim_cur == 20 && limit.rlim_max == 30, "others");
}

CHECK(knows_all_sixteen) {
    for (int i = 0; i < 16; i++) {
        works(syscall(SYS_getrlimit, i, &limit), "getrlimit");
        want(limit.rlim_cur <= limit.rlim_max, "limit %d", i);
    }
}

CHECK(refuses_an_unknown_limit) {
    refuses(syscall(SYS_getrlimit, 16, &limit), EINVAL, "limit 16");
    refuses(syscall(SYS_getrlimit, -1, &limit), EINVAL, "limit -1");
}

CHECK(refuses_a_bad_address) {
    refuses(syscall(SYS_getrlimit, RLIMIT_NOFILE, 8), EFAULT, "address 8");
}

CHECKS
