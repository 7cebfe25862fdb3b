/* Memory can be writable and executable at once. */
#define CAPABILITY "memory_map_write_execute"
#include "_runner_c.h"

#include <sys/mman.h>

static void exercise(void) {
    int all = PROT_READ | PROT_WRITE | PROT_EXEC;
    if (mmap(NULL, 4096, all, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED)
        blocked("mmap PROT_WRITE|PROT_EXEC");
    allowed("mapped a page for writing and running");
}

PROBE(exercise)
