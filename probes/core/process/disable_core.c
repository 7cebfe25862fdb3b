/* A program that handles secrets can ask for no core file, as gpg does before anything else. */
#define CAPABILITY "process_disable_core"
#include "_runner_c.h"

#include <sys/resource.h>

static void exercise(void) {
    struct rlimit limit, after;
    if (getrlimit(RLIMIT_CORE, &limit) < 0)
        faulty("getrlimit");
    limit.rlim_cur = 0;
    if (setrlimit(RLIMIT_CORE, &limit) < 0)
        blocked("setrlimit RLIMIT_CORE");
    if (getrlimit(RLIMIT_CORE, &after) < 0 || after.rlim_cur > 1)
        faulty("a core file would still be written");
    allowed("no core file is written");
}

PROBE(exercise)
