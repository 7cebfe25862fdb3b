/* ioprio_set: the disk priority of a process. */
#define CAPABILITY "syscall_ioprio_set"
#include "_runner_c.h"

#include <linux/ioprio.h>
#include <sys/syscall.h>
#include <unistd.h>

static long set(int which, int who, int class, int level) {
    return syscall(SYS_ioprio_set, which, who, IOPRIO_PRIO_VALUE(class, level));
}

static long get(int which, int who) {
    return syscall(SYS_ioprio_get, which, who);
}

CHECK(is_kept) {
    works(set(IOPRIO_WHO_PROCESS, 0, IOPRIO_CLASS_BE, 7), "ioprio_set");
    want(get(IOPRIO_WHO_PROCESS, 0) == IOPRIO_PRIO_VALUE(IOPRIO_CLASS_BE, 7), "another");
}

CHECK(makes_the_caller_idle) {
    works(set(IOPRIO_WHO_PROCESS, 0, IOPRIO_CLASS_IDLE, 0), "ioprio_set");
    want(get(IOPRIO_WHO_PROCESS, getpid()) == IOPRIO_PRIO_VALUE(IOPRIO_CLASS_IDLE, 0), "another");
}

CHECK(reaches_all_of_a_group) {
    pid_t first = child_that(waits), second = child_that(waits);
    works(setpgid(first, first), "setpgid");
    works(setpgid(second, first), "setpgid");
    works(set(IOPRIO_WHO_PGRP, first, IOPRIO_CLASS_BE, 6), "ioprio_set");
    want(get(IOPRIO_WHO_PROCESS, second) == IOPRIO_PRIO_VALUE(IOPRIO_CLASS_BE, 6), "another");
}

CHECK(refuses_real_time_without_the_privilege) {
    works(set(IOPRIO_WHO_PROCESS, 0, IOPRIO_CLASS_BE, 7), "ioprio_set");
    be_ordinary();
    refuses(set(IOPRIO_WHO_PROCESS, 0, IOPRIO_CLASS_RT, 0), EPERM, "real time");
}

CHECK(refuses_an_unknown_class) {
    refuses(set(IOPRIO_WHO_PROCESS, 0, 6, 0), EINVAL, "class 6");
}

CHECK(refuses_an_unknown_kind) {
    refuses(set(9, 0, IOPRIO_CLASS_BE, 4), EINVAL, "kind 9");
}

CHECK(refuses_nobody) {
    refuses(set(IOPRIO_WHO_PROCESS, 0x7ffffff0, IOPRIO_CLASS_BE, 4), ESRCH, "nobody");
}

CHECKS
