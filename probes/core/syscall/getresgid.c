/* getresgid: real, effective and saved group of the process. */
#define CAPABILITY "syscall_getresgid"
#include "_runner_c.h"

#include <linux/capability.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

static gid_t real = 77, effective = 77, saved = 77;

CHECK(agrees_with_proc) {
    char line[128];
    unsigned ids[3] = {77, 77, 77};
    FILE *file = fopen("/proc/self/status", "r");
    while (file && fgets(line, sizeof line, file))
        sscanf(line, "Gid: %u %u %u", &ids[0], &ids[1], &ids[2]);
    works(syscall(SYS_getresgid, &real, &effective, &saved), "getresgid");
    want(real == ids[0] && effective == ids[1] && saved == ids[2], "/proc says otherwise");
}

CHECK(reports_the_three_apart) {
    if (!holds(CAP_SETGID))
        unavailable("without CAP_SETGID they are all the same");
    works(setresgid(1001, 1002, 1003), "setresgid");
    works(syscall(SYS_getresgid, &real, &effective, &saved), "getresgid");
    want(real == 1001 && effective == 1002 && saved == 1003, "%u %u %u", real, effective, saved);
}

CHECK(refuses_a_bad_address) {
    refuses(syscall(SYS_getresgid, 8, &effective, &saved), EFAULT, "the first to address 8");
    refuses(syscall(SYS_getresgid, &real, &effective, 8), EFAULT, "the third to address 8");
}

CHECKS
