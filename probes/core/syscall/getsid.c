/* getsid: the session of a process. */
#define CAPABILITY "syscall_getsid"
#include "_runner_c.h"

#include <signal.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define NOBODY 0x7ffffff0

CHECK(of_0_is_the_callers_own) {
    want(works(syscall(SYS_getsid, 0), "getsid 0") == syscall(SYS_getsid, getpid()),
         "0 and the own number differ");
}

CHECK(agrees_with_proc) {
    int session = -1;
    FILE *file = fopen("/proc/self/stat", "r");
    want(file && fscanf(file, "%*d (%*[^)]) %*c %*d %*d %d", &session) == 1, "/proc/self/stat");
    want(syscall(SYS_getsid, 0) == session, "/proc says %d", session);
}

CHECK(is_inherited) {
    pid_t child = child_that(waits);
    want(works(syscall(SYS_getsid, child), "getsid") == getsid(0), "another session");
}

CHECK(is_left_alone_by_a_new_group) {
    pid_t child = child_that(waits);
    works(setpgid(child, child), "setpgid");
    want(works(syscall(SYS_getsid, child), "getsid") == getsid(0), "another session");
}

CHECK(follows_a_new_session) {
    works(setsid(), "setsid");
    want(works(syscall(SYS_getsid, 0), "getsid") == getpid(), "not the new session");
}

static void starts_a_session(void) {
    setsid();
    waits();
}

CHECK(looks_into_other_sessions) {
    pid_t child = child_that(starts_a_session);
    want(soon(syscall(SYS_getsid, child) == child), "not the child's session");
    want(syscall(SYS_getsid, 0) != child, "the parent went along");
}

CHECK(reports_that_of_the_parent) {
    want(works(syscall(SYS_getsid, getppid()), "getsid of the parent") == getsid(0),
         "another session");
}

CHECK(refuses_who_was_waited_for) {
    pid_t child = child_that(waits);
    works(kill(child, SIGKILL), "kill");
    end_of(child);
    refuses(syscall(SYS_getsid, child), ESRCH, "getsid of nobody");
}

CHECK(refuses_nobody) {
    refuses(syscall(SYS_getsid, NOBODY), ESRCH, "getsid of nobody");
}

CHECK(refuses_a_negative_number) {
    refuses(syscall(SYS_getsid, -1), ESRCH, "getsid -1");
}

CHECKS
