/* setsid: a session of one's own, without a terminal. */
#define CAPABILITY "syscall_setsid"
#include "_runner_c.h"

#include <fcntl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

CHECK(gives_the_number_of_the_session) {
    want(works(syscall(SYS_setsid), "setsid") == getpid(), "another number");
}

CHECK(makes_a_leader_of_session_and_group) {
    works(syscall(SYS_setsid), "setsid");
    want(getsid(0) == getpid(), "no leader of the session");
    want(getpgid(0) == getpid(), "no leader of the group");
}

CHECK(leaves_the_terminal) {
    works(syscall(SYS_setsid), "setsid");
    want(open("/dev/tty", O_RDWR | O_NOCTTY) == -1, "there still is a terminal");
}

static void compares(void) {
    _exit(getsid(0) == getppid() && getpgid(0) == getppid() ? 0 : 1);
}

CHECK(children_inherit_it) {
    works(syscall(SYS_setsid), "setsid");
    want(end_of(child_that(compares)) == 0, "another session");
}

static void starts_a_session(void) {
    _exit(syscall(SYS_setsid) == getpid() ? 0 : 1);
}

CHECK(leaves_the_parent_where_it_was) {
    pid_t session = getsid(0), group = getpgid(0);
    want(end_of(child_that(starts_a_session)) == 0, "no session");
    want(getsid(0) == session && getpgid(0) == group, "the parent moved");
}

CHECK(refuses_a_groups_leader) {
    works(setpgid(0, 0), "setpgid");
    refuses(syscall(SYS_setsid), EPERM, "setsid of a group's leader");
}

CHECK(refuses_to_do_it_twice) {
    works(syscall(SYS_setsid), "setsid");
    refuses(syscall(SYS_setsid), EPERM, "setsid again");
}

static int starts;

static void starts_late(void) {
    char byte;
    if (read(starts, &byte, 1) != 1)
        _exit(2);
    _exit(syscall(SYS_setsid) == -1 && errno == EPERM ? 0 : 1);
}

CHECK(refuses_whose_number_a_group_still_bears) {
    int ends[2];
    works(pipe(ends), "pipe");
    starts = ends[0];
    pid_t leader = child_that(starts_late), member = child_that(waits);
    works(setpgid(leader, leader), "setpgid");
    works(setpgid(member, leader), "setpgid");
    works(setpgid(leader, getpgid(0)), "setpgid back");
    works(write(ends[1], "x", 1), "write");
    want(end_of(leader) == 0, "not refused");
}

CHECKS
