/* Protections of one's own memory layout can be turned off (personality). */
#define CAPABILITY "kernel_personality"
#include "_runner_c.h"

#include <sys/personality.h>

static void change(void) {
    if (personality(ADDR_NO_RANDOMIZE) < 0)
        blocked("personality ADDR_NO_RANDOMIZE");
    allowed("turned address randomisation off, in a child");
}

static void exercise(void) {
    in_child(change);
}

PROBE(exercise)
