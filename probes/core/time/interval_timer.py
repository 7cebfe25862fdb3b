"""A timer can interrupt a process (setitimer)."""

import signal
import sys

sys.path.insert(0, f"{sys.path[0]}/../..")
from _runner import main

CAPABILITY = "time_interval_timer"


def exercise():
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGALRM})
    signal.setitimer(signal.ITIMER_REAL, 0.005)
    assert signal.sigtimedwait({signal.SIGALRM}, 5).si_signo == signal.SIGALRM
    return "SIGALRM came"


main(CAPABILITY, exercise)
