/* getpgid: the process group of a process. */
#define CAPABILITY "syscall_getpgid"
#include "_runner_c.h"

#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define NOBODY 0x7ffffff0

CHECK(of_0_is_the_callers_own) {
    want(works(syscall(SYS_getpgid, 0), "getpgid 0") == syscall(SYS_getpgid, getpid()),
         "0 and the own number differ");
}

CHECK(follows_a_move) {
    works(setpgid(0, 0), "setpgid");
    want(works(syscall(SYS_getpgid, 0), "getpgid") == getpid(), "not the new group");
}

CHECK(reports_that_of_a_child) {
    pid_t child = child_that(waits);
    want(works(syscall(SYS_getpgid, child), "getpgid") == getpgid(0), "not inherited");
    works(setpgid(child, child), "setpgid");
    want(syscall(SYS_getpgid, child) == child, "the child's move is not seen");
}

CHECK(reports_that_of_the_parent) {
    works(syscall(SYS_getpgid, getppid()), "getpgid of the parent");
}

static void starts_a_session(void) {
    setsid();
    waits();
}

CHECK(looks_into_other_sessions) {
    pid_t child = child_that(starts_a_session);
    want(soon(syscall(SYS_getpgid, child) == child), "not the new session's group");
}

CHECK(reports_that_of_a_zombie) {
    pid_t child = child_that(waits);
    works(kill(child, SIGKILL), "kill");
    siginfo_t info;
    works(waitid(P_PID, (id_t)child, &info, WEXITED | WNOWAIT), "waitid");
    want(works(syscall(SYS_getpgid, child), "getpgid") == getpgid(0), "another group");
    end_of(child);
}

CHECK(outlives_the_groups_leader) {
    pid_t leader = child_that(waits), member = child_that(waits);
    works(setpgid(leader, leader), "setpgid of the leader");
    works(setpgid(member, leader), "setpgid of the member");
    works(kill(leader, SIGKILL), "kill");
    end_of(leader);
    want(works(syscall(SYS_getpgid, member), "getpgid") == leader, "the group is gone");
}

CHECK(refuses_who_was_waited_for) {
    pid_t child = child_that(waits);
    works(kill(child, SIGKILL), "kill");
    end_of(child);
    refuses(syscall(SYS_getpgid, child), ESRCH, "getpgid of nobody");
}

CHECK(refuses_nobody) {
    refuses(syscall(SYS_getpgid, NOBODY), ESRCH, "getpgid of nobody");
}

CHECK(refuses_a_negative_number) {
    refuses(syscall(SYS_getpgid, -1), ESRCH, "getpgid -1");
}

CHECKS
