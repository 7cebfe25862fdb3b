/* setpriority: processes made nicer, and the way back that is barred. */
#define CAPABILITY "syscall_setpriority"
#include "_runner_c.h"

#include <stdio.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

static long set(int which, long who, int nice) {
    return syscall(SYS_setpriority, which, who, nice);
}

static long nice_in_proc(void) {
    long nice = -99;
    FILE *file = fopen("/proc/self/stat", "r");
    if (!file || fscanf(file, "%*d (%*[^)]) %*c") < 0)
        faulty("/proc/self/stat");
    for (int field = 4; field <= 19; field++)
        if (fscanf(file, "%ld", &nice) != 1)
            faulty("/proc/self/stat ends early");
    return nice;
}

CHECK(makes_the_caller_nicer) {
    works(set(PRIO_PROCESS, 0, 17), "setpriority");
    want(getpriority(PRIO_PROCESS, 0) == 17, "another niceness");
    want(nice_in_proc() == 17, "/proc says %ld", nice_in_proc());
}

CHECK(goes_no_further_than_19) {
    works(set(PRIO_PROCESS, 0, 1000), "setpriority");
    want(getpriority(PRIO_PROCESS, 0) == 19, "another niceness");
}

CHECK(makes_all_of_a_group_nicer) {
    pid_t first = child_that(waits), second = child_that(waits);
    works(setpgid(first, first), "setpgid");
    works(setpgid(second, first), "setpgid");
    works(set(PRIO_PGRP, first, 16), "setpriority");
    want(getpriority(PRIO_PROCESS, (id_t)first) == 16, "not the first");
    want(getpriority(PRIO_PROCESS, (id_t)second) == 16, "not the second");
}

static void is_nice(void) {
    _exit(getpriority(PRIO_PROCESS, 0) == 15 ? 0 : 1);
}

CHECK(is_inherited) {
    works(set(PRIO_PROCESS, 0, 15), "setpriority");
    want(end_of(child_that(is_nice)) == 0, "the child is not as nice");
}

CHECK(refuses_the_way_back) {
    struct rlimit limit = {0, 0};
    works(setrlimit(RLIMIT_NICE, &limit), "setrlimit");
    be_ordinary();
    works(set(PRIO_PROCESS, 0, 19), "setpriority");
    refuses(set(PRIO_PROCESS, 0, 18), EACCES, "less nice");
}

CHECK(refuses_nobody) {
    refuses(set(PRIO_PROCESS, 0x7ffffff0, 5), ESRCH, "nobody");
}

CHECK(refuses_an_unknown_kind) {
    refuses(set(9, 0, 5), EINVAL, "kind 9");
}

CHECKS
