/* getpid: the number of the process. */
#define CAPABILITY "syscall_getpid"
#include "_runner_c.h"

#include <pthread.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

CHECK(agrees_with_proc) {
    char name[16] = "";
    works(readlink("/proc/self", name, sizeof name - 1), "readlink /proc/self");
    want(syscall(SYS_getpid) == atol(name), "/proc/self is %s", name);
}

CHECK(is_what_the_parent_got) {
    int ends[2];
    long seen = 0;
    works(pipe(ends), "pipe");
    pid_t pid = fork();
    if (pid == 0) {
        long own = syscall(SYS_getpid);
        _exit(write(ends[1], &own, sizeof own) != sizeof own);
    }
    end_of((int)works(pid, "fork"));
    works(read(ends[0], &seen, sizeof seen), "read");
    want(seen == pid, "the child says %ld, fork said %d", seen, pid);
}

static void *ask(void *answer) {
    *(long *)answer = syscall(SYS_getpid);
    return NULL;
}

CHECK(is_the_same_in_every_thread) {
    pthread_t thread;
    long answer = 0;
    want(pthread_create(&thread, NULL, ask, &answer) == 0, "no thread");
    pthread_join(thread, NULL);
    want(answer == syscall(SYS_getpid), "the thread says %ld", answer);
}

CHECK(takes_no_heed_of_arguments) {
    want(syscall(SYS_getpid, -1, -1, -1) == syscall(SYS_getpid), "another answer");
}

CHECKS
