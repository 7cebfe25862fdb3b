/* epoll_ctl(0) answers as natively (EFAULT).
 * signature: epoll_ctl(0) result: EFAULT → EINVAL
 * found by: wardian probe fuzz --in gvisor, seed 42, program 17
 *   r0: epoll_ctl(0, 0, -1, NULL)
 */
#define CAPABILITY "process_epoll_ctl_as_native"
#include "_runner_c.h"
#include "_runner_fuzz.h"

static void calls(void) {
    long r0 = fuzz_call(SYS_epoll_ctl, 0, 0, -1, 0, 0, 0);
    fuzz_same("epoll_ctl", r0, -EFAULT);
}

static void exercise(void) { fuzz_run(calls, 0); }

PROBE(exercise)
