/* The main thread's stack holds 7 MiB. */
#define CAPABILITY "resources_stack_8m"
#include "_runner_c.h"

#include <string.h>

static void fill(void) {
    volatile char room[7 << 20];
    memset((char *)room, 1, sizeof room);
    allowed("used 7 MiB of stack");
}

static void exercise(void) {
    in_child(fill);
}

PROBE(exercise)
