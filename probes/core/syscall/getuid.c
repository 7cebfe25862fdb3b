/* getuid: the user of the process. */
#define CAPABILITY "syscall_getuid"
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
        sscanf(line, "Uid: %ld", &id);
    want(syscall(SYS_getuid) == id, "/proc says %ld", id);
}

CHECK(agrees_with_getresuid) {
    uid_t real, effective, saved;
    works(getresuid(&real, &effective, &saved), "getresuid");
    want(syscall(SYS_getuid) == real, "getresuid says %u", real);
}

static void *ask(void *answer) {
    *(long *)answer = syscall(SYS_getuid);
    return NULL;
}

CHECK(is_the_same_in_a_thread) {
    pthread_t thread;
    long answer = -1;
    want(pthread_create(&thread, NULL, ask, &answer) == 0, "no thread");
    pthread_join(thread, NULL);
    want(answer == syscall(SYS_getuid), "the thread says %ld", answer);
}

CHECK(takes_no_heed_of_arguments) {
    want(syscall(SYS_getuid, -1) == syscall(SYS_getuid), "another answer");
}

CHECKS
