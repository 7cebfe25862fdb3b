/* gettid: the number of the thread. */
#define CAPABILITY "syscall_gettid"
#include "_runner_c.h"

#include <pthread.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

CHECK(is_the_process_in_the_first_thread) {
    want(syscall(SYS_gettid) == getpid(), "not the number of the process");
}

static void *ask(void *answer) {
    char path[64];
    long own = syscall(SYS_gettid);
    snprintf(path, sizeof path, "/proc/self/task/%ld", own);
    works(access(path, F_OK), path);
    *(long *)answer = own;
    return NULL;
}

CHECK(is_another_in_another_thread) {
    pthread_t threads[2];
    long answers[2] = {0};
    for (int i = 0; i < 2; i++) {
        want(pthread_create(&threads[i], NULL, ask, &answers[i]) == 0, "no thread");
        pthread_join(threads[i], NULL);
        want(answers[i] > 0 && answers[i] != getpid(), "the number of the process");
    }
}

static void compares(void) {
    _exit(syscall(SYS_gettid) == getpid() ? 0 : 1);
}

CHECK(is_the_childs_own_after_fork) {
    want(end_of(child_that(compares)) == 0, "not the child's own");
}

CHECK(takes_no_heed_of_arguments) {
    want(syscall(SYS_gettid, -1, -1, -1) == syscall(SYS_gettid), "another answer");
}

CHECKS
