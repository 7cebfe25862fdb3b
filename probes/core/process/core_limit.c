/* A crash can be made to leave its memory behind, or to wake the host's handler (RLIMIT_CORE). */
#define CAPABILITY "process_core_limit"
#include "_runner_c.h"

#include <sys/resource.h>

static void exercise(void) {
    struct rlimit limit;
    if (getrlimit(RLIMIT_CORE, &limit) < 0)
        faulty("getrlimit");
    limit.rlim_cur = limit.rlim_max;
    if (setrlimit(RLIMIT_CORE, &limit) < 0)
        blocked("setrlimit RLIMIT_CORE");
    if (limit.rlim_cur < 4096)
        blocked_with(0, "the limit stays below a page");
    allowed("raised the limit on core files");
}

PROBE(exercise)
