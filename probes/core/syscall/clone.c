/* clone: children and threads that share what the flags say. */
#define CAPABILITY "syscall_clone"
#include "_runner_c.h"

#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define STACK 65536
#define THREAD (CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD)

static char stack[STACK] __attribute__((aligned(64)));
static volatile int number, ready;
static volatile pid_t reported, cleared;
static int descriptor;

/* libc's clone is the call itself, and gives the child a stack. */
static int clone_of(int (*does)(void *), int flags) {
    return (int)works(clone(does, stack + STACK, flags, NULL, &reported, NULL, &cleared), "clone");
}

static int compare(void *parent) {
    _exit(getppid() == *(pid_t *)parent ? 7 : 1);
}

CHECK(starts_a_child) {
    pid_t own = getpid();
    long pid = works(syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0), "clone");
    if (pid == 0)
        compare(&own);
    want(WEXITSTATUS(end_of((int)pid)) == 7, "no child of this process");
}

static int set_number(void *unused) {
    (void)unused;
    number = 5;
    return 0;
}

CHECK(shares_memory_if_asked) {
    end_of(clone_of(set_number, CLONE_VM | SIGCHLD));
    want(number == 5, "the child's change is not seen");
}

CHECK(copies_memory_otherwise) {
    end_of(clone_of(set_number, SIGCHLD));
    want(number == 0, "the child's change is seen");
}

static int set_number_late(void *unused) {
    usleep(50000);
    return set_number(unused);
}

CHECK(waits_for_the_child_if_asked) {
    int pid = clone_of(set_number_late, CLONE_VM | CLONE_VFORK | SIGCHLD);
    want(number == 5, "the parent went on");
    end_of(pid);
}

static int close_descriptor(void *unused) {
    (void)unused;
    return close(descriptor) == 0 ? 0 : 1;
}

CHECK(shares_descriptors_if_asked) {
    descriptor = (int)works(open("/dev/null", O_RDONLY), "open");
    want(end_of(clone_of(close_descriptor, CLONE_FILES | SIGCHLD)) == 0, "not to be closed");
    refuses(fcntl(descriptor, F_GETFD), EBADF, "fcntl after the child closed it");
}

CHECK(copies_descriptors_otherwise) {
    descriptor = (int)works(open("/dev/null", O_RDONLY), "open");
    want(end_of(clone_of(close_descriptor, SIGCHLD)) == 0, "not to be closed");
    works(fcntl(descriptor, F_GETFD), "fcntl");
}

static int change_directory(void *unused) {
    (void)unused;
    return chdir("/proc") == 0 ? 0 : 1;
}

CHECK(shares_the_directory_if_asked) {
    char here[64];
    works(chdir("/"), "chdir");
    want(end_of(clone_of(change_directory, CLONE_FS | SIGCHLD)) == 0, "no chdir in the child");
    want(getcwd(here, sizeof here) && here[1] == 'p', "the parent stayed");
}

static int ignore_signal(void *unused) {
    (void)unused;
    return signal(SIGUSR1, SIG_IGN) == SIG_ERR;
}

CHECK(shares_signal_handlers_if_asked) {
    struct sigaction action;
    end_of(clone_of(ignore_signal, CLONE_VM | CLONE_SIGHAND | SIGCHLD));
    works(sigaction(SIGUSR1, NULL, &action), "sigaction");
    want(action.sa_handler == SIG_IGN, "the parent's handlers are its own");
}

static void makes_a_sibling(void) {
    pid_t parent = getppid();
    long pid = syscall(SYS_clone, CLONE_PARENT | SIGCHLD, 0, 0, 0, 0);
    if (pid == 0)
        compare(&parent);
    _exit(pid > 0 ? 0 : 1);
}

CHECK(makes_a_sibling_if_asked) {
    int status = 0;
    want(end_of(child_that(makes_a_sibling)) == 0, "clone failed in the child");
    works(wait(&status), "wait for the grandchild");
    want(WEXITSTATUS(status) == 7, "the grandchild is no child");
}

CHECK(gives_parent_and_child_the_number) {
    int pid = clone_of(set_number, CLONE_VM | CLONE_PARENT_SETTID | CLONE_CHILD_SETTID | SIGCHLD);
    end_of(pid);
    want(reported == pid, "the parent got %d", reported);
    want(cleared == pid, "the child got %d", cleared);
}

static int be_a_thread(void *unused) {
    (void)unused;
    number = (int)syscall(SYS_getpid);
    ready = (int)syscall(SYS_gettid);
    return 0;
}

CHECK(starts_a_thread) {
    cleared = 1;
    int tid = clone_of(be_a_thread, THREAD | CLONE_CHILD_CLEARTID);
    want(soon(cleared == 0), "the thread did not end");
    want(number == getpid() && ready == tid && tid != number, "no thread of this process");
    refuses(waitpid(tid, NULL, __WALL), ECHILD, "wait for a thread");
}

CHECK(ends_with_the_signal_that_was_chosen) {
    signal(SIGCHLD, SIG_DFL);
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    sigprocmask(SIG_BLOCK, &set, NULL);
    int pid = clone_of(set_number, SIGUSR1);
    siginfo_t info;
    works(sigwaitinfo(&set, &info), "sigwaitinfo");
    want(info.si_pid == pid && info.si_code == CLD_EXITED, "the signal reports another end");
    refuses(waitpid(pid, NULL, 0), ECHILD, "a plain wait for a child without SIGCHLD");
    want(waitpid(pid, NULL, __WCLONE) == pid, "not even __WCLONE");
}

CHECK(gives_a_descriptor_of_the_child) {
    int pid = clone_of(set_number, CLONE_PIDFD | SIGCHLD);
    struct pollfd ended = {.fd = reported, .events = POLLIN};
    want(fcntl(reported, F_GETFD) == FD_CLOEXEC, "no descriptor that exec closes");
    want(poll(&ended, 1, 2000) == 1, "its end was not reported");
    end_of(pid);
}

CHECK(refuses_threads_without_shared_handlers) {
    refuses(syscall(SYS_clone, CLONE_THREAD | CLONE_VM, 0, 0, 0, 0), EINVAL, "CLONE_THREAD alone");
}

CHECK(refuses_shared_handlers_without_shared_memory) {
    refuses(syscall(SYS_clone, CLONE_SIGHAND | SIGCHLD, 0, 0, 0, 0), EINVAL, "CLONE_SIGHAND alone");
}

CHECK(refuses_two_uses_of_one_place) {
    refuses(syscall(SYS_clone, CLONE_PIDFD | CLONE_PARENT_SETTID | SIGCHLD, 0, &reported, 0, 0), EINVAL,
            "CLONE_PIDFD with CLONE_PARENT_SETTID");
}

CHECKS
