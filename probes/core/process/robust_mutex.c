/* A lock in shared memory outlives the process that died with it (robust futexes). */
#define CAPABILITY "process_robust_mutex"
#include "_runner_c.h"

#include <pthread.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

static void exercise(void) {
    pthread_mutexattr_t kind;
    pthread_mutex_t *lock =
        mmap(NULL, sizeof *lock, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    pthread_mutexattr_init(&kind);
    pthread_mutexattr_setpshared(&kind, PTHREAD_PROCESS_SHARED);
    pthread_mutexattr_setrobust(&kind, PTHREAD_MUTEX_ROBUST);
    pthread_mutex_init(lock, &kind);
    pid_t pid = fork();
    if (pid < 0)
        blocked("fork");
    if (pid == 0) {
        pthread_mutex_lock(lock);
        _exit(0);
    }
    waitpid(pid, NULL, 0);
    struct timespec soon;
    clock_gettime(CLOCK_REALTIME, &soon);
    soon.tv_sec += 5;
    int number = pthread_mutex_timedlock(lock, &soon);
    if (number != EOWNERDEAD)
        blocked_with(number, "pthread_mutex_timedlock");
    allowed("the lock of a dead process came back");
}

PROBE(exercise)
