/* exit: the end of a thread. */
#define CAPABILITY "syscall_exit"
#include "_runner_c.h"

#include <pthread.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static void ends_with_7(void) {
    syscall(SYS_exit, 7);
}

static void ends_with_300(void) {
    syscall(SYS_exit, 300);
}

CHECK(ends_a_process_of_one_thread) {
    int status = end_of(child_that(ends_with_7));
    want(WIFEXITED(status) && WEXITSTATUS(status) == 7, "status is %#x", status);
}

CHECK(keeps_the_low_byte) {
    int status = end_of(child_that(ends_with_300));
    want(WIFEXITED(status) && WEXITSTATUS(status) == 300 % 256, "status is %#x", status);
}

static volatile pid_t tid;

static void *end(void *unused) {
    (void)unused;
    tid = (pid_t)syscall(SYS_gettid);
    syscall(SYS_exit, 9);
    return NULL;
}

CHECK(ends_only_the_thread) {
    pthread_t thread;
    want(pthread_create(&thread, NULL, end, NULL) == 0, "no thread");
    want(pthread_join(thread, NULL) == 0, "not joined"); /* the kernel clears its number */
    want(soon(syscall(SYS_tgkill, getpid(), tid, 0) == -1 && errno == ESRCH), "it lives");
}

static void *end_all(void *first) {
    pid_t leader = *(pid_t *)first;
    usleep(10000);
    _exit(syscall(SYS_tgkill, leader, leader, 0) == 0 ? 5 : 6); /* a zombie has its number */
}

static void ends_before_another_thread(void) {
    static pid_t own;
    pthread_t thread;
    own = getpid();
    if (pthread_create(&thread, NULL, end_all, &own) == 0)
        syscall(SYS_exit, 3);
    _exit(1);
}

CHECK(leaves_the_process_to_the_other_threads) {
    int status = end_of(child_that(ends_before_another_thread));
    want(WIFEXITED(status) && WEXITSTATUS(status) == 5, "status is %#x", status);
}

CHECKS
