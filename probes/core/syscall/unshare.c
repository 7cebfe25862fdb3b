/* unshare: descriptors and directory no longer shared with others. */
#define CAPABILITY "syscall_unshare"
#include "_runner_c.h"

#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

static int fd, flags;
static char stack[65536] __attribute__((aligned(64)));

static int unshare_and_close(void *unused) {
    (void)unused;
    if (flags && syscall(SYS_unshare, flags) < 0)
        return errno;
    return close(fd) < 0 || chdir("/proc") < 0;
}

/* A child that shares everything with this process changes what is its own. */
static void let_a_child_change(void) {
    fd = (int)works(open("/dev/null", O_RDONLY), "open");
    works(chdir("/"), "chdir");
    int shared = CLONE_FILES | CLONE_FS | SIGCHLD;
    int pid = clone(unshare_and_close, stack + sizeof stack, shared, NULL);
    int status = end_of((int)works(pid, "clone"));
    if (status)
        blocked_with(status >> 8, "unshare in the child");
}

static int still_open(void) {
    return fcntl(fd, F_GETFD) != -1;
}

static int still_here(void) {
    char here[64];
    return getcwd(here, sizeof here) && here[1] == 0;
}

CHECK(of_nothing_leaves_all_shared) {
    works(syscall(SYS_unshare, 0), "unshare 0");
    let_a_child_change();
    want(!still_open() && !still_here(), "it was not shared");
}

CHECK(keeps_descriptors_apart) {
    flags = CLONE_FILES;
    let_a_child_change();
    want(still_open() && !still_here(), "descriptors are still shared");
}

CHECK(keeps_the_directory_apart) {
    flags = CLONE_FS;
    let_a_child_change();
    want(!still_open() && still_here(), "the directory is still shared");
}

CHECK(keeps_both_apart) {
    flags = CLONE_FILES | CLONE_FS | CLONE_SYSVSEM;
    let_a_child_change();
    want(still_open() && still_here(), "something is still shared");
}

CHECK(takes_what_is_not_shared_anyway) {
    works(syscall(SYS_unshare, CLONE_THREAD | CLONE_SIGHAND | CLONE_VM), "unshare");
}

static void *live(void *unused) {
    waits();
    return unused;
}

CHECK(refuses_to_part_threads) {
    pthread_t thread;
    want(pthread_create(&thread, NULL, live, NULL) == 0, "no thread");
    refuses(syscall(SYS_unshare, CLONE_THREAD), EINVAL, "CLONE_THREAD with two threads");
    refuses(syscall(SYS_unshare, CLONE_VM), EINVAL, "CLONE_VM with two threads");
}

CHECK(refuses_unknown_flags) {
    refuses(syscall(SYS_unshare, CLONE_PARENT), EINVAL, "CLONE_PARENT");
    refuses(syscall(SYS_unshare, SIGCHLD), EINVAL, "SIGCHLD");
}

CHECKS
