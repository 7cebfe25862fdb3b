/* Signals can be read from a descriptor (signalfd). */
#define CAPABILITY "ipc_signalfd"
#include "_runner_c.h"

#include <signal.h>
#include <sys/signalfd.h>
#include <unistd.h>

static void exercise(void) {
    struct signalfd_siginfo got;
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    sigprocmask(SIG_BLOCK, &set, NULL);
    int signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    if (signals < 0)
        blocked("signalfd");
    raise(SIGUSR1);
    if (read(signals, &got, sizeof got) != sizeof got || got.ssi_signo != SIGUSR1)
        blocked("read from signalfd");
    allowed("read SIGUSR1");
}

PROBE(exercise)
