/* getegid: the effective group of the process. */
#define CAPABILITY "syscall_getegid"
#include "_runner_c.h"

#include <pthread.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

CHECK(agrees_with_proc) {
    char line[128];
    long id = -1;
    FILE *file = fopen("/proc/self/status", "r");
    while (file && fgets(line, sizeof line, file))
        sscanf(line, "Gid: %*d %ld", &id);
    want(syscall(SYS_getegid) == id, "/proc says %ld", id);
}

CHECK(agrees_with_getresgid) {
    gid_t real, effective, saved;
    works(getresgid(&real, &effective, &saved), "getresgid");
    want(syscall(SYS_getegid) == effective, "getresgid says %u", effective);
}

static void *ask(void *answer) {
    *(long *)answer = syscall(SYS_getegid);
    return NULL;
}

CHECK(is_the_same_in_a_thread) {
    pthread_t thread;
    long answer = -1;
    want(pthread_create(&thread, NULL, ask, &answer) == 0, "no thread");
    pthread_join(thread, NULL);
    want(answer == syscall(SYS_getegid), "the thread says %ld", answer);
}

CHECK(takes_no_heed_of_arguments) {
    want(syscall(SYS_getegid, -1) == syscall(SYS_getegid), "another answer");
}

CHECKS
