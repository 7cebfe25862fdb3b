/* ioprio_get: the disk priority of a process. */
#define CAPABILITY "syscall_ioprio_get"
#include "_runner_c.h"

#include <linux/ioprio.h>
#include <sys/syscall.h>
#include <unistd.h>

static long get(int which, int who) {
    return syscall(SYS_ioprio_get, which, who);
}

CHECK(reports_what_was_set) {
    int value = IOPRIO_PRIO_VALUE(IOPRIO_CLASS_BE, 5);
    works(syscall(SYS_ioprio_set, IOPRIO_WHO_PROCESS, 0, value), "ioprio_set");
    want(works(get(IOPRIO_WHO_PROCESS, 0), "ioprio_get") == value, "another");
}

CHECK(reports_the_best_of_a_group) {
    pid_t first = child_that(waits), second = child_that(waits);
    int high = IOPRIO_PRIO_VALUE(IOPRIO_CLASS_BE, 2), low = IOPRIO_PRIO_VALUE(IOPRIO_CLASS_BE, 7);
    works(setpgid(first, first), "setpgid");
    works(setpgid(second, first), "setpgid");
    works(syscall(SYS_ioprio_set, IOPRIO_WHO_PROCESS, first, low), "ioprio_set");
    works(syscall(SYS_ioprio_set, IOPRIO_WHO_PROCESS, second, high), "ioprio_set");
    want(works(get(IOPRIO_WHO_PGRP, first), "ioprio_get") == high, "not the second's");
}

CHECK(refuses_an_unknown_kind) {
    refuses(get(9, 0), EINVAL, "kind 9");
}

CHECK(refuses_nobody) {
    refuses(get(IOPRIO_WHO_PROCESS, 0x7ffffff0), ESRCH, "nobody");
}

CHECKS
