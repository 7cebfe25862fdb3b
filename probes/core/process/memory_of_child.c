/* The memory of another process of one's own can be read (process_vm_readv). */
#define CAPABILITY "process_memory_of_child"
#include "_runner_c.h"

#include <signal.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

static int secret = 7;

static void exercise(void) {
    int copy = 0;
    struct iovec here = {&copy, sizeof copy}, there = {&secret, sizeof secret};
    pid_t pid = fork();
    if (pid < 0)
        blocked("fork");
    if (pid == 0) {
        alarm(20);
        for (;;)
            pause();
    }
    ssize_t got = process_vm_readv(pid, &here, 1, &there, 1, 0);
    int number = errno;
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    if (got < 0)
        blocked_with(number, "process_vm_readv");
    allowed("read a child's memory");
}

PROBE(exercise)
