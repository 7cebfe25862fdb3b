/* Resets the signal set-up inherited from the caller. An execve resets handlers, and run/launcher.py resets
 * ignored signals, except the two that a C library keeps to itself: glibc's posix_spawn leaves those ignored. */
#define _GNU_SOURCE
#include "fortify.h"
#include "signals.h"
#include "fail.h"

#include <errno.h>
#include <signal.h>
#include <sys/signalfd.h>
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

/* Nothing interrupts the supervisor: it reads its signals from a descriptor. */
int listen_for_signals(void) {
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, NULL);
    sigset_t wanted;
    sigemptyset(&wanted);
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGWINCH, SIGUSR1, SIGUSR2,
                                  SIGALRM, SIGVTALRM, SIGPROF, SIGXCPU};
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
        sigaddset(&wanted, signals[i]);
    int fd = signalfd(-1, &wanted, SFD_CLOEXEC | SFD_NONBLOCK);
    if (fd < 0)
        die(errno, "supervisor", "listening for signals");
    return fd;
}
