/* 64 KiB can be kept from being swapped (mlock), as programs do that hold keys. */
#define CAPABILITY "memory_lock_small"
#include "_runner_c.h"

#include <sys/mman.h>

static void exercise(void) {
    static char room[64 << 10] __attribute__((aligned(4096)));
    if (mlock(room, sizeof room) < 0)
        blocked("mlock of 64 KiB");
    allowed("locked 64 KiB");
}

PROBE(exercise)
