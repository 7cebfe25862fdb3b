/* 64 GiB of addresses can be reserved without memory, as Node, Go, Java and browsers do. */
#define CAPABILITY "memory_reserve_large"
#include "_runner_c.h"

#include <sys/mman.h>

static void exercise(void) {
    int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
    if (mmap(NULL, 64UL << 30, PROT_NONE, flags, -1, 0) == MAP_FAILED)
        blocked("mmap of 64 GiB, PROT_NONE");
    allowed("reserved 64 GiB of addresses");
}

PROBE(exercise)
