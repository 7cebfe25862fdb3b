/* 1 GiB can be kept from being swapped, at the host's cost (mlock2). None of it is touched. */
#define CAPABILITY "memory_lock_large"
#include "_runner_c.h"

#include <sys/mman.h>

static void exercise(void) {
    int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
    void *room = mmap(NULL, 1UL << 30, PROT_READ | PROT_WRITE, flags, -1, 0);
    if (room == MAP_FAILED)
        faulty("mmap of 1 GiB");
    if (mlock2(room, 1UL << 30, MLOCK_ONFAULT) < 0)
        blocked("mlock2 of 1 GiB");
    allowed("1 GiB would be locked as it is used");
}

PROBE(exercise)
