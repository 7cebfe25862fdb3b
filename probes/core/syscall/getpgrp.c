/* getpgrp: the caller's process group. */
#define CAPABILITY "syscall_getpgrp"
#include "_runner_c.h"

#include <sys/syscall.h>
#include <unistd.h>

#ifdef SYS_getpgrp
CHECK(agrees_with_getpgid) {
    want(syscall(SYS_getpgrp) == works(getpgid(0), "getpgid"), "another group");
}

CHECK(follows_a_move) {
    works(setpgid(0, 0), "setpgid");
    want(syscall(SYS_getpgrp) == getpid(), "not the new group");
}

static pid_t group;

static void compares(void) {
    _exit(syscall(SYS_getpgrp) == group ? 0 : 1);
}

CHECK(is_inherited) {
    works(setpgid(0, 0), "setpgid");
    group = getpid();
    want(end_of(child_that(compares)) == 0, "the child is in another group");
}

CHECK(takes_no_heed_of_arguments) {
    want(syscall(SYS_getpgrp, -1) == syscall(SYS_getpgrp), "another answer");
}
#else
CHECK(is_asked_of_getpgid_here) {
    unavailable("this architecture has getpgid only");
}
#endif

CHECKS
