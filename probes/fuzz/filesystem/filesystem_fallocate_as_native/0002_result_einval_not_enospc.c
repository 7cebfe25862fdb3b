/* fallocate answers as natively (EINVAL).
 * signature: fallocate result: EINVAL → ENOSPC
 * found by: wardian probe fuzz --in wardian, seed 20
 *   r0: openat(AT_FDCWD, "f", O_RDWR, 0)
 *   r1: fallocate(r0, 0, -1, 0x10000000000)
 */
#define CAPABILITY "filesystem_fallocate_as_native"
#include "_runner_c.h"
#include "_runner_fuzz.h"

static void calls(void) {
    fuzz_put(0x200, "f", 1);
    long r0 = fuzz_call(SYS_openat, -100, AT(0x200), 2, 0, 0, 0);
    long r1 = fuzz_call(SYS_fallocate, r0, 0, -1, 0x10000000000L, 0, 0);
    fuzz_same("fallocate", r1, -EINVAL);
}

static void exercise(void) { fuzz_run(calls, 0); }

PROBE(exercise)
