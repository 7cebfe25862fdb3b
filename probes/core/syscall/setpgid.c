/* setpgid: process groups, and what becomes of them as a whole. */
#define CAPABILITY "syscall_setpgid"
#include "_runner_c.h"

#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define NOBODY 0x7ffffff0

CHECK(makes_a_group_of_the_caller) {
    want(getpgid(0) != getpid(), "a leader already");
    works(syscall(SYS_setpgid, 0, 0), "setpgid 0 0");
    want(getpgid(0) == getpid(), "no leader");
}

CHECK(makes_a_group_of_a_child) {
    pid_t child = child_that(waits);
    works(syscall(SYS_setpgid, child, child), "setpgid of a child");
    want(getpgid(child) == child, "the child is not in it");
    want(getpgid(0) != child, "the parent is in it");
}

CHECK(joins_a_group_that_is_there) {
    pid_t first = child_that(waits), second = child_that(waits);
    works(syscall(SYS_setpgid, first, 0), "setpgid of the first");
    works(syscall(SYS_setpgid, second, first), "setpgid of the second");
    want(getpgid(second) == first, "not the group of the first");
}

CHECK(changes_nothing_for_a_leader_already) {
    works(syscall(SYS_setpgid, 0, 0), "setpgid");
    works(syscall(SYS_setpgid, 0, 0), "setpgid again");
    want(getpgid(0) == getpid(), "no leader");
}

CHECK(groups_are_signalled_as_one) {
    pid_t first = child_that(waits), second = child_that(waits);
    works(syscall(SYS_setpgid, first, 0), "setpgid");
    works(syscall(SYS_setpgid, second, first), "setpgid");
    works(kill(-first, SIGTERM), "kill of the group");
    want(WTERMSIG(end_of(first)) == SIGTERM && WTERMSIG(end_of(second)) == SIGTERM, "one lives");
}

CHECK(groups_are_stopped_and_continued_as_one) {
    pid_t pids[2] = {child_that(waits), child_that(waits)};
    int status;
    works(syscall(SYS_setpgid, pids[0], 0), "setpgid");
    works(syscall(SYS_setpgid, pids[1], pids[0]), "setpgid");
    works(kill(-pids[0], SIGSTOP), "stop");
    for (int i = 0; i < 2; i++)
        want(waitpid(pids[i], &status, WUNTRACED) == pids[i] && WIFSTOPPED(status), "not stopped");
    works(kill(-pids[0], SIGCONT), "continue");
    for (int i = 0; i < 2; i++)
        want(waitpid(pids[i], &status, WCONTINUED) == pids[i] && WIFCONTINUED(status), "stopped");
}

CHECK(groups_are_waited_for_as_one) {
    pid_t inside = child_that(waits), outside = child_that(waits);
    works(syscall(SYS_setpgid, inside, 0), "setpgid");
    works(kill(outside, SIGKILL), "kill");
    works(kill(inside, SIGKILL), "kill");
    want(waitpid(-inside, NULL, 0) == inside, "another group's child");
    refuses(waitpid(-inside, NULL, 0), ECHILD, "wait for an empty group");
    end_of(outside);
}

static int reports[2];

static void report(int signal) {
    char letter = signal == SIGHUP ? 'H' : signal == SIGCONT ? 'C' : '?';
    if (write(reports[1], &letter, 1) != 1)
        _exit(1);
}

/* Its own group, a stopped child in another one, and then its end, which leaves nobody of the
 * session who could continue the child. */
static void orphans_a_stopped_group(void) {
    pid_t own = getpid(), child = fork();
    if (child == 0) {
        setpgid(0, 0);
        signal(SIGHUP, report);
        signal(SIGCONT, report);
        raise(SIGSTOP);
        alarm(2);
        soon(getppid() != own);
        _exit(0);
    }
    if (write(reports[1], &child, sizeof child) != sizeof child)
        _exit(1);
    _exit(waitpid(child, NULL, WUNTRACED) == child ? 0 : 1);
}

CHECK(stopped_groups_that_become_orphans_get_SIGHUP_and_SIGCONT) {
    char letters[2] = "";
    pid_t orphan = 0;
    works(setsid(), "setsid");
    works(pipe(reports), "pipe");
    pid_t parent = child_that(orphans_a_stopped_group);
    works(setpgid(parent, parent), "setpgid");
    works(read(reports[0], &orphan, sizeof orphan), "read the orphan's number");
    end_of(parent);
    for (int i = 0; i < 2; i++) {
        alarm(2);
        works(read(reports[0], &letters[i], 1), "read what it got");
    }
    kill(orphan, SIGKILL);
    want((letters[0] == 'H') + (letters[1] == 'H') == 1, "no SIGHUP");
    want((letters[0] == 'C') + (letters[1] == 'C') == 1, "no SIGCONT");
}

CHECK(refuses_a_negative_group) {
    refuses(syscall(SYS_setpgid, 0, -1), EINVAL, "setpgid 0 -1");
}

CHECK(refuses_a_negative_process) {
    refuses(syscall(SYS_setpgid, -1, getpgid(0)), ESRCH, "setpgid of -1");
}

CHECK(refuses_nobody) {
    refuses(syscall(SYS_setpgid, NOBODY, 0), ESRCH, "setpgid of nobody");
}

CHECK(refuses_who_is_no_child) {
    refuses(syscall(SYS_setpgid, getppid(), 0), ESRCH, "setpgid of the parent");
}

CHECK(refuses_a_group_that_is_not_there) {
    refuses(syscall(SYS_setpgid, 0, NOBODY), EPERM, "setpgid to nobody's group");
}

CHECK(refuses_a_sessions_leader) {
    works(setsid(), "setsid");
    refuses(syscall(SYS_setpgid, 0, 0), EPERM, "setpgid of a session's leader");
}

static void starts_a_session(void) {
    setsid();
    waits();
}

CHECK(refuses_another_sessions_child_and_group) {
    pid_t child = child_that(starts_a_session);
    want(soon(getsid(child) == child), "no session");
    refuses(syscall(SYS_setpgid, child, getpgid(0)), EPERM, "a child in another session");
    refuses(syscall(SYS_setpgid, 0, child), EPERM, "a group of another session");
}

static void runs_cat(void) {
    execl("/bin/cat", "cat", NULL);
}

CHECK(refuses_a_child_that_ran_a_program) {
    int ends[2];
    char byte;
    works(pipe(ends), "pipe");
    works(pipe2(reports, 02000000), "pipe2"); /* closed by exec */
    works(dup2(ends[0], 0), "dup2");
    pid_t child = child_that(runs_cat);
    close(reports[1]);
    want(read(reports[0], &byte, 1) == 0, "no end of file");
    refuses(syscall(SYS_setpgid, child, child), EACCES, "setpgid of a child after exec");
}

CHECKS
