/* fallocate answers as natively (EBADF).
 * signature: fallocate result: EBADF → ENOSPC
 * found by: wardian probe fuzz --in wardian, seed 20
 *   r0: fallocate(-1, 0, 0, 0x10000000000)
 */
#define CAPABILITY "filesystem_fallocate_as_native"
#include "_runner_c.h"
#include "_runner_fuzz.h"

static void calls(void) {
    long r0 = fuzz_call(SYS_fallocate, -1, 0, 0, 0x10000000000L, 0, 0);
    fuzz_same("fallocate", r0, -EBADF);
}

static void exercise(void) { fuzz_run(calls, 0); }

PROBE(exercise)
