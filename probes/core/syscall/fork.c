/* fork: a child, what it has of its parent and what it has not. */
#define CAPABILITY "syscall_fork"
#include "_runner_c.h"

#include <fcntl.h>
#include <linux/capability.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#ifdef SYS_fork
/* Fork; the child's exit code says whether what it finds is so. */
static int child_finds(int (*so)(void)) {
    long pid = works(syscall(SYS_fork), "fork");
    if (pid == 0)
        _exit(so() ? 0 : 1);
    return end_of((int)pid) == 0;
}

static pid_t parent;
static int number = 1, descriptor;

static int is_a_child(void) {
    return getppid() == parent && getpid() != parent;
}

CHECK(starts_a_child) {
    parent = getpid();
    want(child_finds(is_a_child), "no child of this process");
}

static int change_memory(void) {
    int was = number;
    number = 2;
    return was == 1;
}

CHECK(copies_memory) {
    want(child_finds(change_memory), "the child has other memory");
    want(number == 1, "the child's change is seen");
}

static volatile int *shared;

static int change_shared_memory(void) {
    return (*shared = 5) == 5;
}

CHECK(shares_what_is_mapped_to_be_shared) {
    shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    want(shared != MAP_FAILED && child_finds(change_shared_memory) && *shared == 5, "not shared");
}

static int close_descriptor(void) {
    return lseek(descriptor, 3, SEEK_SET) == 3 && close(descriptor) == 0;
}

CHECK(copies_descriptors_and_shares_their_offset) {
    const char *path = scratch("fork");
    descriptor = (int)works(open(path, O_CREAT | O_RDWR, 0600), "open");
    unlink(path);
    want(child_finds(close_descriptor), "the child can't close it");
    want(works(lseek(descriptor, 0, SEEK_CUR), "lseek") == 3, "another offset");
}

static int change_directory(void) {
    return chdir("/proc") == 0;
}

CHECK(copies_the_directory) {
    char here[64];
    works(chdir("/"), "chdir");
    want(child_finds(change_directory), "no chdir in the child");
    want(getcwd(here, sizeof here) && here[1] == 0, "the parent went along");
}

static int has_nothing_pending(void) {
    sigset_t pending, mask;
    sigpending(&pending);
    sigprocmask(SIG_BLOCK, NULL, &mask);
    return !sigismember(&pending, SIGUSR1) && sigismember(&mask, SIGUSR1);
}

CHECK(copies_the_mask_and_no_pending_signals) {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    sigprocmask(SIG_BLOCK, &set, NULL);
    raise(SIGUSR1);
    want(child_finds(has_nothing_pending), "a signal went along");
}

static int has_a_handler(void) {
    struct sigaction action;
    return sigaction(SIGUSR2, NULL, &action) == 0 && action.sa_handler == SIG_IGN;
}

CHECK(copies_signal_handlers) {
    signal(SIGUSR2, SIG_IGN);
    want(child_finds(has_a_handler), "another handler");
}

static int has_no_timer(void) {
    struct itimerval timer;
    return getitimer(ITIMER_REAL, &timer) == 0 && timer.it_value.tv_sec == 0 && alarm(0) == 0;
}

CHECK(leaves_timers_behind) {
    alarm(100);
    want(child_finds(has_no_timer), "the alarm went along");
}

static void *wait_forever(void *unused) {
    waits();
    return unused;
}

static int is_alone(void) {
    return access("/proc/self/task", X_OK) == 0 && syscall(SYS_gettid) == getpid() &&
           unshare(CLONE_THREAD) == 0; /* for the only thread of a process */
}

CHECK(takes_only_the_calling_thread) {
    pthread_t thread;
    want(pthread_create(&thread, NULL, wait_forever, NULL) == 0, "no thread");
    want(child_finds(is_alone), "the other thread went along");
}

static int is_in_the_group(void) {
    return getpgid(0) == getpgid(parent) && getsid(0) == getsid(parent);
}

CHECK(stays_in_group_and_session) {
    parent = getpid();
    want(child_finds(is_in_the_group), "another group or session");
}

static void wait_a_moment(void) {
    rest();
}

static int has_used_nothing(void) {
    struct rusage usage;
    return getrusage(RUSAGE_CHILDREN, &usage) == 0 && usage.ru_maxrss == 0;
}

CHECK(counts_time_and_children_anew) {
    end_of(child_that(wait_a_moment));
    want(child_finds(has_used_nothing), "the parent's children are counted");
}

CHECK(refuses_more_than_the_limit) {
    struct rlimit none = {0, 0};
    if (geteuid() == 0 && !holds(CAP_SETUID))
        unavailable("root is not bound by the limit");
    if (geteuid() == 0)
        works(syscall(SYS_setresuid, 65534, 65534, 65534), "setresuid");
    works(setrlimit(RLIMIT_NPROC, &none), "setrlimit");
    long pid = syscall(SYS_fork);
    if (pid == 0)
        _exit(0);
    refuses(pid, EAGAIN, "fork beyond RLIMIT_NPROC");
}
#else
CHECK(is_asked_of_clone_here) {
    unavailable("this architecture has clone only");
}
#endif

CHECKS
