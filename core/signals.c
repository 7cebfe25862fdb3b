/* Nothing of the caller's signal set-up reaches us or the guest. */
#define _GNU_SOURCE
#include "fortify.h"
#include "signals.h"

#include <signal.h>

enum { FIRST_REALTIME = 32 };

static void reset_from(int first, int end) {
    struct sigaction fresh = {.sa_handler = SIG_DFL};
    for (int signal = first; signal < end; signal++)
        sigaction(signal, &fresh, NULL); /* fails for KILL, STOP and libc's own; that is fine */
}

void reset_signals(void) {
    reset_from(1, FIRST_REALTIME);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
}

/* The supervisor blocks these and none of them is sent to it: only the reaper, from which the guest
 * is forked, needs this, and it has time for it. */
void reset_realtime_signals(void) { reset_from(FIRST_REALTIME, NSIG); }
