/* A program can ask for huge pages where they fit (madvise MADV_HUGEPAGE). */
#define CAPABILITY "memory_huge_pages_advice"
#include "_runner_c.h"

#include <sys/mman.h>

static void exercise(void) {
    void *room =
        mmap(NULL, 4 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (room == MAP_FAILED)
        blocked("mmap");
    if (madvise(room, 4 << 20, MADV_HUGEPAGE) < 0)
        blocked("madvise MADV_HUGEPAGE");
    allowed("asked for huge pages");
}

PROBE(exercise)
