/* A process can sleep on a word of shared memory until another wakes it (futex). */
#define CAPABILITY "ipc_futex_shared"
#include "_runner_c.h"

#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static void exercise(void) {
    struct timespec patience = {5, 0};
    int *word = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    pid_t pid = fork();
    if (pid < 0)
        blocked("fork");
    if (pid == 0) {
        __atomic_store_n(word, 1, __ATOMIC_SEQ_CST);
        syscall(SYS_futex, word, FUTEX_WAKE, 1, 0, 0, 0);
        _exit(0);
    }
    while (__atomic_load_n(word, __ATOMIC_SEQ_CST) == 0)
        if (syscall(SYS_futex, word, FUTEX_WAIT, 0, &patience, 0, 0) < 0 && errno != EAGAIN &&
            errno != EINTR)
            blocked("futex FUTEX_WAIT");
    waitpid(pid, NULL, 0);
    allowed("a child woke its parent");
}

PROBE(exercise)
