/* 1 GiB can be kept from being swapped, at the host's cost (mlock). */
#define CAPABILITY "memory_lock_large"
#include "_runner_c.h"

#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

static void exercise(void) {
    size_t size = 1UL << 30;
    void *room = mmap(NULL, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (room == MAP_FAILED)
        blocked("mmap");
    /* Pages that may not be touched count against the limit, but are never filled in. */
    if (mlock(room, size) < 0 && errno != ENOMEM)
        blocked("mlock of 1 GiB");
    struct rlimit limit;
    if (getrlimit(RLIMIT_MEMLOCK, &limit) == 0 && limit.rlim_cur < size && geteuid() != 0)
        blocked_with(ENOMEM, "mlock of 1 GiB");
    allowed("the limit lets 1 GiB be locked");
}

PROBE(exercise)
