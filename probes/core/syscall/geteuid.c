/* geteuid: the effective user of the process. */
#define CAPABILITY "syscall_geteuid"
#include "_runner_c.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

CHECK(agrees_with_proc) {
    char line[128];
    long id = -1;
    FILE *file = fopen("/proc/self/status", "r");
    while (file && fgets(line, sizeof line, file))
        sscanf(line, "Uid: %*d %ld", &id);
    want(syscall(SYS_geteuid) == id, "/proc says %ld", id);
}

CHECK(agrees_with_getresuid) {
    uid_t real, effective, saved;
    works(getresuid(&real, &effective, &saved), "getresuid");
    want(syscall(SYS_geteuid) == effective, "getresuid says %u", effective);
}

CHECK(owns_what_the_caller_makes) {
    struct stat status;
    const char *path = scratch("geteuid");
    int fd = (int)works(open(path, O_CREAT | O_RDWR, 0600), "open");
    unlink(path);
    works(fstat(fd, &status), "fstat");
    want(status.st_uid == syscall(SYS_geteuid), "the file is %u's", status.st_uid);
}

static void *ask(void *answer) {
    *(long *)answer = syscall(SYS_geteuid);
    return NULL;
}

CHECK(is_the_same_in_a_thread) {
    pthread_t thread;
    long answer = -1;
    want(pthread_create(&thread, NULL, ask, &answer) == 0, "no thread");
    pthread_join(thread, NULL);
    want(answer == syscall(SYS_geteuid), "the thread says %ld", answer);
}

CHECK(takes_no_heed_of_arguments) {
    want(syscall(SYS_geteuid, -1) == syscall(SYS_geteuid), "another answer");
}

CHECKS
