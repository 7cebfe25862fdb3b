/* The machine's clock can be slowed or sped up. Tried with a tick of 0, which no kernel accepts. */
#define CAPABILITY "time_adjust_clock"
#include "_runner_c.h"

#include <sys/timex.h>

static void exercise(void) {
    struct timex wanted = {.modes = ADJ_TICK, .tick = 0};
    if (adjtimex(&wanted) >= 0 || errno == EINVAL)
        allowed("adjtimex looked at the tick: the right to change it was there");
    blocked("adjtimex ADJ_TICK");
}

PROBE(exercise)
