"""Starting a run so that no signal's exception comes between the start and its handle: it would
leave a guest running that nobody knows of."""

from __future__ import annotations

import _thread
import os
import threading
import time

TYPE_CHECKING = False  # importing typing costs half a start of Python
if TYPE_CHECKING:
    import signal
    from collections.abc import Callable

    from wardian.sandbox.run.process import Process
else:
    import _signal as signal  # without the enums of signal, which cost as much as ten modules

# Those that programs turn into exceptions. All of them would do, and cost 0.2 ms a run to list.
SIGNALS = (
    signal.SIGINT,
    signal.SIGTERM,
    signal.SIGHUP,
    signal.SIGQUIT,
    signal.SIGALRM,
    signal.SIGUSR1,
    signal.SIGUSR2,
    signal.SIGCHLD,
)


def uninterrupted(launch: Callable[[], Process]) -> Process:
    """Start a process here; what signals come meanwhile come right after."""
    if threading.current_thread() is not threading.main_thread():
        return launch()  # signals' exceptions only come to the main thread
    if _thread_count() > 1:
        return launched_in_thread(launch)  # a signal blocked here would come through another one
    process = None
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)
    try:
        process = launch()
    finally:
        try:
            signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        except BaseException:
            if process is not None:
                process.abandon()
            raise
    return process


def _thread_count() -> int:
    """All of them, a library's own included; each is a directory."""
    try:
        return os.stat("/proc/self/task").st_nlink - 2
    except OSError:
        return threading.active_count()


def launched_in_thread(launch: Callable[[], Process]) -> Process:
    """With bare threads and locks: a signal's exception inside threading's own can leave those
    locked for ever."""
    outcome: list[Process | BaseException] = []
    ended = _thread.allocate_lock()
    ended.acquire()

    def work() -> None:
        try:
            outcome.append(launch())
        except BaseException as error:
            outcome.append(error)
        ended.release()

    try:
        _thread.start_new_thread(work, ())
    except RuntimeError:
        return launch()  # no more threads can be had
    try:
        ended.acquire()
    except BaseException:
        while not outcome:
            time.sleep(0.001)
        if not isinstance(outcome[0], BaseException):
            outcome[0].abandon()
        raise
    if isinstance(outcome[0], BaseException):
        raise outcome[0]
    return outcome[0]
