/* A signal sent to oneself reaches its handler, by system calls. */
#define CAPABILITY "process_signal_self"
#include "_runner_c.h"

#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

static volatile sig_atomic_t seen;

static void caught(int signal) {
    seen = signal;
}

static void exercise(void) {
    struct sigaction action = {.sa_handler = caught};
    if (sigaction(SIGUSR1, &action, NULL) < 0)
        blocked("sigaction");
    if (syscall(SYS_tgkill, getpid(), gettid(), SIGUSR1) < 0)
        blocked("tgkill");
    if (seen != SIGUSR1)
        faulty("the handler was not called");
    allowed("caught SIGUSR1");
}

PROBE(exercise)
