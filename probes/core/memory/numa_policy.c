/* Where memory lies among the host's nodes can be chosen (set_mempolicy). */
#define CAPABILITY "memory_numa_policy"
#include "_runner_c.h"

#include <sys/syscall.h>
#include <unistd.h>

static void exercise(void) {
    if (syscall(SYS_set_mempolicy, 0, (void *)0, 0) < 0) /* MPOL_DEFAULT */
        blocked("set_mempolicy");
    allowed("set the default policy");
}

PROBE(exercise)
