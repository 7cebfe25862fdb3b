/* waitid: how children end, stop and continue, reported in full. */
#define CAPABILITY "syscall_waitid"
#include "_runner_c.h"

#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define NOBODY 0x7ffffff0
#ifndef P_PIDFD
#define P_PIDFD 3
#endif

static siginfo_t info;

static long wait_for(int type, long id, int options) {
    memset(&info, 0, sizeof info);
    return syscall(SYS_waitid, type, id, &info, options, NULL);
}

static int reports(pid_t pid, int code, int status) {
    return info.si_pid == pid && info.si_code == code && info.si_status == status &&
           info.si_signo == SIGCHLD && info.si_uid == getuid();
}

static void ends_with_7(void) {
    _exit(7);
}

CHECK(reports_the_exit_code) {
    pid_t child = child_that(ends_with_7);
    want(works(wait_for(P_PID, child, WEXITED), "waitid") == 0, "not 0");
    want(reports(child, CLD_EXITED, 7), "code %d, status %d", info.si_code, info.si_status);
}

CHECK(reports_the_signal_that_killed) {
    pid_t child = child_that(waits);
    works(kill(child, SIGTERM), "kill");
    works(wait_for(P_PID, child, WEXITED), "waitid");
    want(reports(child, CLD_KILLED, SIGTERM), "code %d", info.si_code);
}

CHECK(reports_stop_and_continuation) {
    pid_t child = child_that(waits);
    works(kill(child, SIGSTOP), "stop");
    works(wait_for(P_PID, child, WSTOPPED), "waitid");
    want(reports(child, CLD_STOPPED, SIGSTOP), "code %d", info.si_code);
    works(kill(child, SIGCONT), "continue");
    works(wait_for(P_PID, child, WCONTINUED), "waitid");
    want(reports(child, CLD_CONTINUED, SIGCONT), "code %d", info.si_code);
}

CHECK(leaves_the_child_if_asked) {
    pid_t child = child_that(ends_with_7);
    for (int i = 0; i < 2; i++) {
        works(wait_for(P_PID, child, WEXITED | WNOWAIT), "waitid");
        want(reports(child, CLD_EXITED, 7), "code %d", info.si_code);
    }
    works(wait_for(P_PID, child, WEXITED), "waitid");
    refuses(wait_for(P_PID, child, WEXITED), ECHILD, "waitid again");
}

CHECK(leaves_a_stop_if_asked) {
    pid_t child = child_that(waits);
    works(kill(child, SIGSTOP), "stop");
    for (int i = 0; i < 2; i++) {
        works(wait_for(P_PID, child, WSTOPPED | WNOWAIT), "waitid");
        want(reports(child, CLD_STOPPED, SIGSTOP), "code %d", info.si_code);
    }
}

CHECK(reports_nobody_where_it_does_not_wait) {
    pid_t child = child_that(waits);
    works(wait_for(P_PID, child, WEXITED | WNOHANG), "waitid");
    want(info.si_pid == 0 && info.si_signo == 0, "a running child was reported");
}

CHECK(waits_for_any_child) {
    pid_t child = child_that(ends_with_7);
    works(wait_for(P_ALL, 0, WEXITED), "waitid");
    want(info.si_pid == child, "another child");
}

CHECK(waits_for_a_group) {
    pid_t inside = child_that(waits), outside = child_that(ends_with_7);
    works(setpgid(inside, inside), "setpgid");
    works(kill(inside, SIGKILL), "kill");
    works(wait_for(P_PGID, inside, WEXITED), "waitid");
    want(info.si_pid == inside, "a child of another group");
    refuses(wait_for(P_PGID, inside, WEXITED), ECHILD, "waitid for an empty group");
    end_of(outside);
}

CHECK(waits_for_the_own_group) {
    pid_t outside = child_that(waits), inside = child_that(ends_with_7);
    works(setpgid(outside, outside), "setpgid");
    works(wait_for(P_PGID, 0, WEXITED), "waitid");
    want(info.si_pid == inside, "a child of another group");
}

CHECK(waits_for_a_process_descriptor) {
    pid_t child = child_that(ends_with_7);
    int fd = (int)works(syscall(SYS_pidfd_open, child, 0), "pidfd_open");
    works(wait_for(P_PIDFD, fd, WEXITED), "waitid");
    want(reports(child, CLD_EXITED, 7), "code %d", info.si_code);
}

CHECK(reports_only_what_was_asked_for) {
    pid_t child = child_that(ends_with_7);
    works(wait_for(P_PID, child, WEXITED | WNOWAIT), "waitid");
    refuses(wait_for(P_PID, child, WSTOPPED | WNOHANG), ECHILD, "waitid for the stop of a dead");
}

CHECK(reports_what_the_child_used) {
    struct rusage usage = {.ru_maxrss = 0};
    pid_t child = child_that(ends_with_7);
    works(syscall(SYS_waitid, P_PID, child, &info, WEXITED, &usage), "waitid");
    want(usage.ru_maxrss > 0, "no memory was used");
}

CHECK(needs_no_place_for_its_result) {
    pid_t child = child_that(ends_with_7);
    works(syscall(SYS_waitid, P_PID, child, NULL, WEXITED, NULL), "waitid");
    refuses(wait_for(P_PID, child, WEXITED), ECHILD, "waitid again");
}

CHECK(refuses_without_children) {
    refuses(wait_for(P_ALL, 0, WEXITED | WNOHANG), ECHILD, "waitid");
}

CHECK(refuses_who_is_no_child) {
    pid_t child = child_that(waits);
    refuses(wait_for(P_PID, NOBODY, WEXITED), ECHILD, "waitid for nobody");
    refuses(wait_for(P_PID, getppid(), WEXITED), ECHILD, "waitid for the parent");
    (void)child;
}

CHECK(refuses_to_wait_for_nothing) {
    refuses(wait_for(P_ALL, 0, 0), EINVAL, "waitid without WEXITED, WSTOPPED or WCONTINUED");
}

CHECK(refuses_unknown_options) {
    refuses(wait_for(P_ALL, 0, WEXITED | 0x10), EINVAL, "option 0x10");
}

CHECK(refuses_an_unknown_kind) {
    refuses(wait_for(99, 0, WEXITED), EINVAL, "kind 99");
}

CHECK(refuses_process_0) {
    refuses(wait_for(P_PID, 0, WEXITED), EINVAL, "process 0");
}

CHECK(refuses_what_is_no_process_descriptor) {
    int ends[2];
    works(pipe(ends), "pipe");
    refuses(wait_for(P_PIDFD, ends[0], WEXITED), EBADF, "a pipe");
    refuses(wait_for(P_PIDFD, -1, WEXITED), EINVAL, "descriptor -1");
}

CHECK(refuses_a_bad_address) {
    pid_t child = child_that(ends_with_7);
    refuses(syscall(SYS_waitid, P_PID, child, 8, WEXITED, NULL), EFAULT, "address 8");
}

CHECKS
