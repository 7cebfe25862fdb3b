/* getpriority: how nice processes are. */
#define CAPABILITY "syscall_getpriority"
#include "_runner_c.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

static long priority(int which, int who) {
    return syscall(SYS_getpriority, which, who); /* 20 less the niceness, 1 to 40 */
}

CHECK(agrees_with_what_was_set) {
    works(setpriority(PRIO_PROCESS, 0, 19), "setpriority");
    want(works(priority(PRIO_PROCESS, 0), "getpriority") == 1, "another");
}

CHECK(reports_that_of_a_child) {
    pid_t child = child_that(waits);
    works(setpriority(PRIO_PROCESS, (id_t)child, 16), "setpriority");
    want(works(priority(PRIO_PROCESS, child), "getpriority") == 4, "another");
    want(priority(PRIO_PROCESS, 0) != 4, "its parent's, too");
}

CHECK(reports_the_highest_of_a_group) {
    pid_t first = child_that(waits), second = child_that(waits);
    works(setpgid(first, first), "setpgid");
    works(setpgid(second, first), "setpgid");
    works(setpriority(PRIO_PROCESS, (id_t)first, 19), "setpriority");
    works(setpriority(PRIO_PROCESS, (id_t)second, 14), "setpriority");
    want(works(priority(PRIO_PGRP, first), "getpriority") == 6, "not the second's");
}

CHECK(reports_the_highest_of_a_user) {
    want(works(priority(PRIO_USER, 0), "getpriority") >= priority(PRIO_PROCESS, 0), "lower");
}

CHECK(refuses_nobody) {
    refuses(priority(PRIO_PROCESS, 0x7ffffff0), ESRCH, "nobody");
}

CHECK(refuses_an_unknown_kind) {
    refuses(priority(9, 0), EINVAL, "kind 9");
}

CHECKS
