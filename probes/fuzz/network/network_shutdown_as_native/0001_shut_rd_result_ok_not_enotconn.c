/* shutdown(SHUT_RD) answers as natively (ok).
 * signature: shutdown(SHUT_RD) result: ok → ENOTCONN
 * found by: wardian probe fuzz --in gvisor, seed 42, program 24
 *   r0: socket(AF_UNIX, SOCK_DGRAM, 0)
 *   r1: shutdown(r0, SHUT_RD)
 */
#define CAPABILITY "network_shutdown_as_native"
#include "_runner_c.h"
#include "_runner_fuzz.h"

static void calls(void) {
    long r0 = fuzz_call(SYS_socket, 1, 2, 0, 0, 0, 0);
    long r1 = fuzz_call(SYS_shutdown, r0, 0, 0, 0, 0, 0);
    fuzz_well("shutdown", r1);
}

static void exercise(void) { fuzz_run(calls, 0); }

PROBE(exercise)
