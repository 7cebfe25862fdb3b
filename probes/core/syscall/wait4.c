/* wait4: how children end, stop and go on. */
#define CAPABILITY "syscall_wait4"
#include "_runner_c.h"

#include <pthread.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define NOBODY 0x7ffffff0

static int status;
static struct rusage usage;

static pid_t wait_for(pid_t pid, int options) {
    return (pid_t)syscall(SYS_wait4, pid, &status, options, NULL);
}

static void ends_with_7(void) {
    _exit(7);
}

static void ends_with_300(void) {
    _exit(300);
}

CHECK(reports_the_exit_code) {
    pid_t child = child_that(ends_with_7);
    want(works(wait_for(child, 0), "wait4") == child, "another child");
    want(WIFEXITED(status) && WEXITSTATUS(status) == 7, "status is %#x", status);
}

CHECK(reports_the_low_byte_of_an_exit_code) {
    want(wait_for(child_that(ends_with_300), 0) > 0, "wait4");
    want(WIFEXITED(status) && WEXITSTATUS(status) == 300 % 256, "status is %#x", status);
}

CHECK(reports_the_signal_that_killed) {
    pid_t child = child_that(waits);
    works(kill(child, SIGTERM), "kill");
    want(wait_for(child, 0) == child, "another child");
    want(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM, "status is %#x", status);
    want(!WCOREDUMP(status), "a core of SIGTERM");
}

static void aborts(void) {
    prctl(PR_SET_DUMPABLE, 0);
    raise(SIGABRT);
}

CHECK(reports_no_core_where_there_is_none) {
    want(wait_for(child_that(aborts), 0) > 0, "wait4");
    want(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT, "status is %#x", status);
    want(!WCOREDUMP(status), "a core of an opaque process");
}

CHECK(reports_stop_and_continuation_if_asked) {
    pid_t child = child_that(waits);
    works(kill(child, SIGSTOP), "stop");
    want(wait_for(child, WUNTRACED) == child, "another child");
    want(WIFSTOPPED(status) && WSTOPSIG(status) == SIGSTOP, "status is %#x", status);
    works(kill(child, SIGCONT), "continue");
    want(wait_for(child, WCONTINUED) == child, "another child");
    want(WIFCONTINUED(status), "status is %#x", status);
    works(kill(child, SIGKILL), "kill");
    want(wait_for(child, 0) == child && WTERMSIG(status) == SIGKILL, "not killed");
}

CHECK(reports_a_stop_once) {
    pid_t child = child_that(waits);
    works(kill(child, SIGSTOP), "stop");
    want(wait_for(child, WUNTRACED) == child, "another child");
    want(wait_for(child, WUNTRACED | WNOHANG) == 0, "reported twice");
}

CHECK(reports_no_stop_unasked) {
    pid_t child = child_that(waits);
    works(kill(child, SIGSTOP), "stop");
    siginfo_t info;
    works(waitid(P_PID, (id_t)child, &info, WSTOPPED | WNOWAIT), "waitid");
    want(wait_for(child, WNOHANG) == 0, "a stop was reported");
}

CHECK(does_not_wait_if_asked) {
    pid_t child = child_that(waits);
    want(wait_for(child, WNOHANG) == 0, "a running child was reported");
    works(kill(child, SIGKILL), "kill");
    want(wait_for(child, 0) == child, "another child");
}

CHECK(waits_for_any_child) {
    pid_t first = child_that(ends_with_7), second = child_that(ends_with_7);
    pid_t one = wait_for(-1, 0), other = wait_for(-1, 0);
    want((one == first && other == second) || (one == second && other == first), "others");
    refuses(wait_for(-1, 0), ECHILD, "wait4 without children");
}

CHECK(waits_for_the_own_group) {
    pid_t outside = child_that(waits), inside = child_that(ends_with_7);
    works(setpgid(outside, outside), "setpgid");
    works(kill(outside, SIGKILL), "kill");
    want(wait_for(0, 0) == inside, "a child of another group");
    refuses(wait_for(0, 0), ECHILD, "wait4 for an empty group");
}

CHECK(waits_for_a_group) {
    pid_t leader = child_that(waits), member = child_that(waits), other = child_that(ends_with_7);
    works(setpgid(leader, leader), "setpgid");
    works(setpgid(member, leader), "setpgid");
    works(kill(member, SIGKILL), "kill");
    want(wait_for(-leader, 0) == member, "not the group's member");
    want(wait_for(-leader, WNOHANG) == 0, "not the leader alone");
    end_of(other);
}

CHECK(takes_a_child_away) {
    pid_t child = child_that(ends_with_7);
    want(wait_for(child, 0) == child, "another child");
    refuses(wait_for(child, 0), ECHILD, "wait4 again");
    refuses(kill(child, 0), ESRCH, "kill of a child that was waited for");
}

static void works_a_while(void) {
    for (volatile int i = 0; i < 100000000; i++)
        if (i % 1000000 == 0 && getrusage(RUSAGE_SELF, &usage) == 0 && usage.ru_utime.tv_usec > 0)
            break;
}

CHECK(reports_what_the_child_used) {
    pid_t child = child_that(works_a_while);
    works(syscall(SYS_wait4, child, &status, 0, &usage), "wait4");
    want(usage.ru_maxrss > 0, "no memory was used");
    want(usage.ru_utime.tv_sec + usage.ru_utime.tv_usec + usage.ru_stime.tv_usec > 0, "no time");
}

CHECK(needs_no_place_for_the_status) {
    pid_t child = child_that(ends_with_7);
    want(works(syscall(SYS_wait4, child, NULL, 0, NULL), "wait4") == child, "another child");
}

static volatile int stay;

static void *start(void *pid) {
    *(pid_t *)pid = child_that(ends_with_7);
    while (stay)
        rest();
    return NULL;
}

CHECK(waits_for_another_threads_child) {
    pthread_t thread;
    pid_t child = 0;
    want(pthread_create(&thread, NULL, start, &child) == 0, "no thread");
    pthread_join(thread, NULL);
    want(wait_for(child, 0) == child, "not this process's child");
}

CHECK(leaves_another_threads_child_if_asked) {
    pthread_t thread;
    volatile pid_t child = 0;
    stay = 1;
    want(pthread_create(&thread, NULL, start, (void *)&child) == 0, "no thread");
    want(soon(child), "no child");
    refuses(wait_for(child, __WNOTHREAD), ECHILD, "wait4 for another thread's child");
    stay = 0;
    pthread_join(thread, NULL);
}

CHECK(leaves_nothing_where_SIGCHLD_is_ignored) {
    signal(SIGCHLD, SIG_IGN);
    pid_t child = child_that(ends_with_7);
    refuses(wait_for(child, 0), ECHILD, "wait4 with SIGCHLD ignored");
}

static void heard(int signal) {
    (void)signal;
}

CHECK(is_interrupted_by_a_signal) {
    struct sigaction action = {.sa_handler = heard};
    pid_t child = child_that(waits);
    works(sigaction(SIGALRM, &action, NULL), "sigaction");
    ualarm(20000, 20000);
    refuses(wait_for(child, 0), EINTR, "wait4 under an alarm");
}

CHECK(refuses_without_children) {
    refuses(wait_for(-1, WNOHANG), ECHILD, "wait4");
}

CHECK(refuses_who_is_no_child) {
    pid_t child = child_that(waits);
    refuses(wait_for(getppid(), 0), ECHILD, "wait4 for the parent");
    refuses(wait_for(NOBODY, 0), ECHILD, "wait4 for nobody");
    want(wait_for(child, WNOHANG) == 0, "the child is gone");
}

CHECK(refuses_unknown_options) {
    refuses(wait_for(-1, 0x10), EINVAL, "option 0x10");
}

CHECK(refuses_a_bad_address) {
    pid_t child = child_that(ends_with_7);
    refuses(syscall(SYS_wait4, child, 8, 0, NULL), EFAULT, "a status at address 8");
}

CHECKS
