/* timer_settime answers as natively (EINVAL).
 * signature: timer_settime result: EINVAL → ok
 * found by: wardian probe fuzz --in gvisor, seed 42, program 8
 *   r0: timer_create(CLOCK_REALTIME, NULL, buf14)
 *   r1: timer_settime(0, 0, {00000000 00000000 00000000 00000000 00000000 00000000…}, NULL)
 */
#define CAPABILITY "time_timer_settime_as_native"
#include "_runner_c.h"
#include "_runner_fuzz.h"

static void calls(void) {
    fuzz_put(0x2800, "\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\344\013T\002", 29);
    fuzz_call(SYS_timer_create, 0, 0, AT(0x1c00), 0, 0, 0);
    long r1 = fuzz_call(SYS_timer_settime, 0, 0, AT(0x2800), 0, 0, 0);
    fuzz_same("timer_settime", r1, -EINVAL);
}

static void exercise(void) { fuzz_run(calls, 0); }

PROBE(exercise)
