/* Random bytes come from the kernel without a file (getrandom). */
#define CAPABILITY "kernel_getrandom"
#include "_runner_c.h"

#include <sys/random.h>

static void exercise(void) {
    unsigned char bytes[16];
    if (getrandom(bytes, sizeof bytes, 0) != sizeof bytes)
        blocked("getrandom");
    allowed("got 16 bytes");
}

PROBE(exercise)
