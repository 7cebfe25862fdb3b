/* Nothing of the caller's signal set-up reaches us or the guest. */
#define _GNU_SOURCE
#include "launch.h"

#include <signal.h>

void reset_signals(void) {
    struct sigaction fresh = {.sa_handler = SIG_DFL};
    for (int signal = 1; signal < NSIG; signal++)
        sigaction(signal, &fresh, NULL); /* fails for KILL, STOP and libc's own; that is fine */
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
}
