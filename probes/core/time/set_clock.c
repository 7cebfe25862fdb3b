/* The machine's clock can be set. Tried with nothing to set. */
#define CAPABILITY "time_set_clock"
#include "_runner_c.h"

#include <sys/syscall.h>
#include <unistd.h>

static void exercise(void) {
    if (syscall(SYS_settimeofday, (void *)0, (void *)0) < 0)
        blocked("settimeofday");
    allowed("settimeofday had nothing to set: the right to was there");
}

PROBE(exercise)
