/* clone3: children that share what a structure says. */
#define CAPABILITY "syscall_clone3"
#include "_runner_c.h"

#include <fcntl.h>
#include <linux/sched.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static long clone3(struct clone_args *how) {
    return syscall(SYS_clone3, how, sizeof *how);
}

/* Clone; the child's exit code says whether what it finds is so. */
static int child_finds(struct clone_args *how, int (*so)(void)) {
    long pid = works(clone3(how), "clone3");
    if (pid == 0)
        _exit(so() ? 0 : 1);
    return end_of((int)pid) == 0;
}

static pid_t parent, reported, seen;
static int number = 1, descriptor;

static int is_a_child(void) {
    return getppid() == parent && getpid() != parent;
}

CHECK(starts_a_child) {
    struct clone_args how = {.exit_signal = SIGCHLD};
    parent = getpid();
    want(child_finds(&how, is_a_child), "no child of this process");
}

static int change_memory(void) {
    return (number = 2) == 2;
}

CHECK(copies_memory) {
    struct clone_args how = {.exit_signal = SIGCHLD};
    want(child_finds(&how, change_memory) && number == 1, "the child's change is seen");
}

static int close_descriptor(void) {
    return close(descriptor) == 0;
}

CHECK(shares_descriptors_if_asked) {
    struct clone_args how = {.flags = CLONE_FILES, .exit_signal = SIGCHLD};
    descriptor = (int)works(open("/dev/null", O_RDONLY), "open");
    want(child_finds(&how, close_descriptor), "not to be closed");
    refuses(fcntl(descriptor, F_GETFD), EBADF, "fcntl after the child closed it");
}

static int change_directory(void) {
    return chdir("/proc") == 0;
}

CHECK(shares_the_directory_if_asked) {
    struct clone_args how = {.flags = CLONE_FS, .exit_signal = SIGCHLD};
    char here[64];
    works(chdir("/"), "chdir");
    want(child_finds(&how, change_directory), "no chdir in the child");
    want(getcwd(here, sizeof here) && here[1] == 'p', "the parent stayed");
}

CHECK(gives_a_descriptor_of_the_child) {
    int pidfd = -1;
    struct clone_args how = {
        .flags = CLONE_PIDFD, .pidfd = (uintptr_t)&pidfd, .exit_signal = SIGCHLD};
    long pid = works(clone3(&how), "clone3");
    if (pid == 0)
        waits();
    struct pollfd ended = {.fd = pidfd, .events = POLLIN};
    want(fcntl(pidfd, F_GETFD) == FD_CLOEXEC, "no descriptor that exec closes");
    int early = poll(&ended, 1, 0);
    kill((pid_t)pid, SIGKILL);
    want(early == 0 && poll(&ended, 1, 2000) == 1, "its end was not reported");
    end_of((int)pid);
}

static int was_told(void) {
    return seen == getpid();
}

CHECK(gives_parent_and_child_the_number) {
    struct clone_args how = {.flags = CLONE_PARENT_SETTID | CLONE_CHILD_SETTID,
                             .parent_tid = (uintptr_t)&reported,
                             .child_tid = (uintptr_t)&seen,
                             .exit_signal = SIGCHLD};
    long pid = works(clone3(&how), "clone3");
    if (pid == 0)
        _exit(was_told() ? 0 : 1);
    want(end_of((int)pid) == 0, "the child did not get its ID");
    want(reported == pid && seen == 0, "the parent got %d", reported);
}

static int has_no_handler(void) {
    struct sigaction used, ignored;
    sigaction(SIGUSR1, NULL, &used);
    sigaction(SIGUSR2, NULL, &ignored);
    return used.sa_handler == SIG_DFL && ignored.sa_handler == SIG_IGN;
}

static void heard(int signal) {
    number = signal;
}

CHECK(clears_signal_handlers_if_asked) {
    struct clone_args how = {.flags = CLONE_CLEAR_SIGHAND, .exit_signal = SIGCHLD};
    signal(SIGUSR1, heard);
    signal(SIGUSR2, SIG_IGN);
    want(child_finds(&how, has_no_handler), "handlers are not as they should be");
}

CHECK(ends_with_the_signal_that_was_chosen) {
    struct clone_args how = {.exit_signal = SIGUSR1};
    signal(SIGUSR1, heard);
    long pid = works(clone3(&how), "clone3");
    if (pid == 0)
        _exit(0);
    want(soon(number == SIGUSR1), "no SIGUSR1");
    want(waitpid((pid_t)pid, NULL, __WALL) == pid, "no child to wait for");
}

CHECK(refuses_a_short_structure) {
    struct clone_args how = {.exit_signal = SIGCHLD};
    refuses(syscall(SYS_clone3, &how, 32), EINVAL, "a structure of 32 bytes");
}

CHECK(takes_a_longer_structure_only_if_the_rest_is_0) {
    struct {
        struct clone_args how;
        uint64_t more;
    } longer = {.how = {.exit_signal = SIGCHLD}, .more = 1};
    refuses(syscall(SYS_clone3, &longer, sizeof longer), E2BIG, "a longer structure");
    longer.more = 0;
    long pid = works(syscall(SYS_clone3, &longer, sizeof longer), "a longer one of zeros");
    if (pid == 0)
        _exit(0);
    end_of((int)pid);
}

CHECK(refuses_a_bad_address) {
    refuses(syscall(SYS_clone3, 8, sizeof(struct clone_args)), EFAULT, "clone3 at address 8");
}

CHECK(refuses_a_bad_signal) {
    struct clone_args how = {.exit_signal = 65};
    refuses(clone3(&how), EINVAL, "exit signal 65");
}

CHECK(refuses_unknown_flags) {
    struct clone_args how = {.flags = 1ULL << 63, .exit_signal = SIGCHLD};
    refuses(clone3(&how), EINVAL, "flag 63");
}

CHECK(refuses_a_stack_without_a_size) {
    struct clone_args how = {.stack = 65536, .exit_signal = SIGCHLD};
    refuses(clone3(&how), EINVAL, "a stack without a size");
}

CHECK(refuses_threads_without_shared_handlers) {
    struct clone_args how = {.flags = CLONE_THREAD | CLONE_VM};
    refuses(clone3(&how), EINVAL, "CLONE_THREAD alone");
}

CHECK(refuses_handlers_both_shared_and_cleared) {
    struct clone_args how = {.flags = CLONE_CLEAR_SIGHAND | CLONE_SIGHAND | CLONE_VM};
    refuses(clone3(&how), EINVAL, "CLONE_CLEAR_SIGHAND with CLONE_SIGHAND");
}

CHECK(refuses_a_bad_control_group) {
    struct clone_args how = {
        .flags = CLONE_INTO_CGROUP, .cgroup = 1 << 20, .exit_signal = SIGCHLD};
    refuses(clone3(&how), EBADF, "a control group that is not open");
}

CHECKS
