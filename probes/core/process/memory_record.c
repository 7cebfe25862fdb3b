/* A process can reach the kernel's record of its own memory (PR_SET_MM), here for its size only. */
#define CAPABILITY "process_memory_record"
#include "_runner_c.h"

#include <linux/prctl.h>
#include <sys/prctl.h>

static void exercise(void) {
    unsigned size = 0;
    if (prctl(PR_SET_MM, PR_SET_MM_MAP_SIZE, &size, 0, 0) < 0)
        blocked("PR_SET_MM_MAP_SIZE");
    if (size == 0)
        blocked_with(0, "no size was returned");
    allowed("a record of %u bytes", size);
}

PROBE(exercise)
