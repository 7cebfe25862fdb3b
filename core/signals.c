/* Nothing of the caller's signal set-up reaches us or the guest. An execve makes defaults of handlers, and
 * who starts us makes defaults of what it ignores (run/launcher.py), but for the two signals that a C
 * library keeps to itself: glibc's posix_spawn has those ignored. */
#define _GNU_SOURCE
#include "fortify.h"
#include "signals.h"

#include <signal.h>
#include <stddef.h>

void reset_signals(void) {
    struct sigaction fresh = {.sa_handler = SIG_DFL};
    static const int kept_by_libc[] = {32, 33};
    for (size_t i = 0; i < sizeof kept_by_libc / sizeof *kept_by_libc; i++)
        sigaction(kept_by_libc[i], &fresh, NULL); /* a C library may refuse; ours does not */
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
}
