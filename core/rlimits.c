/* The limits that the kernel holds for each process. */
#define _GNU_SOURCE
#include "launch.h"

#include <errno.h>
#include <sys/resource.h>

void set_rlimits(const struct plan *plan) {
    if (!WALL_IS_UP(plan, WALL_RLIMITS))
        return;
    for (size_t i = 0; i < plan->rlimit_count; i++) {
        __rlimit_resource_t resource = (__rlimit_resource_t)plan->rlimits[i].resource;
        struct rlimit now, wanted;
        if (getrlimit(resource, &now) < 0)
            die(errno, "limits", "reading resource limit %d", (int)resource);
        wanted.rlim_cur = wanted.rlim_max = plan->rlimits[i].value;
        if (wanted.rlim_max > now.rlim_max) /* the caller's own limit is the tighter one */
            wanted.rlim_cur = wanted.rlim_max = now.rlim_max;
        if (setrlimit(resource, &wanted) < 0)
            die(errno, "limits", "setting resource limit %d", (int)resource);
    }
}
