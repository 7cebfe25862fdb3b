/* 64 GiB of writable memory are granted to one process. None of it is touched. */
#define CAPABILITY "resources_memory_unlimited"
#include "_runner_c.h"

#include <sys/mman.h>

static void exercise(void) {
    int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
    if (mmap(NULL, 64UL << 30, PROT_READ | PROT_WRITE, flags, -1, 0) == MAP_FAILED)
        blocked("mmap of 64 GiB");
    allowed("was granted 64 GiB");
}

PROBE(exercise)
