/* preadv2 answers as natively (ok).
 * signature: preadv2 result: ok → EISDIR
 * found by: wardian probe fuzz --in gvisor, seed 42, program 13
 *   r0: openat(AT_FDCWD, ".", O_RDONLY, 0)
 *   r1: preadv2(r0, NULL, 0, -1, 0, 0)
 */
#define CAPABILITY "filesystem_preadv2_as_native"
#include "_runner_c.h"
#include "_runner_fuzz.h"

static void calls(void) {
    fuzz_put(0x3e00, ".", 1);
    long r0 = fuzz_call(SYS_openat, -100, AT(0x3e00), 0, 0, 0, 0);
    long r1 = fuzz_call(SYS_preadv2, r0, 0, 0, -1, 0, 0);
    fuzz_well("preadv2", r1);
}

static void exercise(void) { fuzz_run(calls, 0); }

PROBE(exercise)
