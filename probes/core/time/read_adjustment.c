/* The clock's adjustment can be read (adjtimex), as NTP tools do. */
#define CAPABILITY "time_read_adjustment"
#include "_runner_c.h"

#include <sys/timex.h>

static void exercise(void) {
    struct timex nothing = {.modes = 0};
    if (adjtimex(&nothing) < 0)
        blocked("adjtimex");
    allowed("read the clock's state");
}

PROBE(exercise)
