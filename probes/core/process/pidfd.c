/* A process can be named by a descriptor: signalled, waited for, polled (pidfd). */
#define CAPABILITY "process_pidfd"
#include "_runner_c.h"

#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static void exercise(void) {
    pid_t pid = fork();
    if (pid < 0)
        blocked("fork");
    if (pid == 0) {
        alarm(20);
        for (;;)
            pause();
    }
    long process = syscall(SYS_pidfd_open, pid, 0);
    int number = errno;
    if (process < 0 || syscall(SYS_pidfd_send_signal, process, SIGKILL, 0, 0) < 0) {
        number = errno;
        kill(pid, SIGKILL);
        waitpid(pid, NULL, 0);
        blocked_with(number, process < 0 ? "pidfd_open" : "pidfd_send_signal");
    }
    struct pollfd ended = {.fd = (int)process, .events = POLLIN};
    if (poll(&ended, 1, 5000) != 1)
        blocked_with(0, "the descriptor did not report the end");
    waitpid(pid, NULL, 0);
    allowed("ended a child by its descriptor, which reported the end");
}

PROBE(exercise)
