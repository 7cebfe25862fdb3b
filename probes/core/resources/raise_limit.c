/* A limit that was set on a process can be raised again. */
#define CAPABILITY "resources_raise_limit"
#include "_runner_c.h"

#include <sys/resource.h>

static void exercise(void) {
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
        faulty("getrlimit");
    limit.rlim_cur = --limit.rlim_max;
    if (setrlimit(RLIMIT_NOFILE, &limit) < 0)
        faulty("a limit can't be lowered");
    limit.rlim_max++;
    if (setrlimit(RLIMIT_NOFILE, &limit) < 0)
        blocked("setrlimit RLIMIT_NOFILE");
    allowed("raised a hard limit");
}

PROBE(exercise)
