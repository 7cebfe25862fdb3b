/* memfd_create answers as natively (EINVAL).
 * signature: memfd_create result: EINVAL → ENAMETOOLONG
 * found by: wardian probe fuzz --in gvisor, seed 42, program 12
 *   r0: memfd_create("NNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNN", 0)
 */
#define CAPABILITY "filesystem_memfd_create_as_native"
#include "_runner_c.h"
#include "_runner_fuzz.h"

static void calls(void) {
    fuzz_put(0x1800, "NNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNN", 250);
    long r0 = fuzz_call(SYS_memfd_create, AT(0x1800), 0, 0, 0, 0, 0);
    fuzz_same("memfd_create", r0, -EINVAL);
}

static void exercise(void) { fuzz_run(calls, 0); }

PROBE(exercise)
