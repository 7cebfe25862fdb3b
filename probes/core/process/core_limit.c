/* A crash can write a core file or start the host's core-dump handler (RLIMIT_CORE). */
#define CAPABILITY "process_core_limit"
#include "_runner_c.h"

#include <sys/resource.h>

static void exercise(void) {
    const struct rlimit none = {0, 0}; /* a piped handler runs unless the limit is exactly 1, core(5) */
    struct rlimit limit, after;
    if (getrlimit(RLIMIT_CORE, &limit) < 0)
        faulty("getrlimit");
    limit.rlim_cur = limit.rlim_max;
    if (setrlimit(RLIMIT_CORE, &limit) < 0)
        blocked("setrlimit RLIMIT_CORE");
    if (setrlimit(RLIMIT_CORE, &none) < 0 || getrlimit(RLIMIT_CORE, &after) < 0)
        blocked("setrlimit RLIMIT_CORE to 0");
    if (limit.rlim_max < 4096 && after.rlim_cur == limit.rlim_cur)
        blocked_with(0, "the limit stays as it is, whatever is set");
    allowed("changed the limit on core files");
}

PROBE(exercise)
