/* The page at address 0 can be mapped, which turns the kernel's null pointers into exploits. */
#define CAPABILITY "memory_map_null"
#include "_runner_c.h"

#include <sys/mman.h>

static void map(void) {
    int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED;
    if (mmap(NULL, 4096, PROT_READ, flags, -1, 0) == MAP_FAILED)
        blocked("mmap at 0");
    allowed("mapped the page at 0, in a child");
}

static void exercise(void) {
    in_child(map);
}

PROBE(exercise)
