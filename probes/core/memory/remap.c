/* A mapping can grow and move (mremap). */
#define CAPABILITY "memory_remap"
#include "_runner_c.h"

#include <sys/mman.h>

static void exercise(void) {
    char *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED)
        blocked("mmap");
    page[0] = 'x';
    char *grown = mremap(page, 4096, 1 << 20, MREMAP_MAYMOVE);
    if (grown == MAP_FAILED)
        blocked("mremap");
    if (grown[0] != 'x' || grown[(1 << 20) - 1] != 0)
        faulty("the contents changed");
    allowed("grew a mapping to 1 MiB");
}

PROBE(exercise)
