/* A signal can carry a value (sigqueue). */
#define CAPABILITY "process_sigqueue"
#include "_runner_c.h"

#include <signal.h>
#include <unistd.h>

static void exercise(void) {
    sigset_t set;
    siginfo_t got;
    struct timespec patience = {5, 0};
    sigemptyset(&set);
    sigaddset(&set, SIGRTMIN);
    sigprocmask(SIG_BLOCK, &set, NULL);
    if (sigqueue(getpid(), SIGRTMIN, (union sigval){.sival_int = 42}) < 0)
        blocked("sigqueue");
    if (sigtimedwait(&set, &got, &patience) < 0)
        blocked("sigtimedwait");
    if (got.si_value.sival_int != 42)
        faulty("another value came");
    allowed("42 came with the signal");
}

PROBE(exercise)
