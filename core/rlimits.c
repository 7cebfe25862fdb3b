/* The limits that the kernel enforces for each process. */
#define _GNU_SOURCE
#include "fortify.h"
#include "rlimits.h"
#include "fail.h"
#include "omitted_walls.h"
#include "plan.h"

#include <errno.h>
#include <sys/resource.h>

static void set_one(int which, uint64_t value) {
    __rlimit_resource_t resource = (__rlimit_resource_t)which;
    struct rlimit now, wanted;
    if (getrlimit(resource, &now) < 0)
        die(errno, "limits", "reading resource limit %d", which);
    wanted.rlim_cur = wanted.rlim_max = value;
    if (wanted.rlim_max > now.rlim_max) /* the caller's own limit is the tighter one */
        wanted.rlim_cur = wanted.rlim_max = now.rlim_max;
    if (setrlimit(resource, &wanted) < 0)
        die(errno, "limits", "setting resource limit %d", which);
}

void set_rlimits(const struct plan *plan) {
    for (size_t i = 0; i < plan->rlimit_count && WALL_IS_UP(plan, WALL_RLIMITS); i++)
        if (plan->rlimits[i].resource != RLIMIT_NOFILE)
            set_one(plan->rlimits[i].resource, plan->rlimits[i].value);
}

/* For the launcher itself: the limit of descriptors in flight is the sender's (unix(7), ETOOMANYREFS),
 * counted by user, and a guest of the same user may have many in flight. */
void raise_open_files(void) {
    struct rlimit files;
    if (getrlimit(RLIMIT_NOFILE, &files) == 0 && files.rlim_cur < files.rlim_max) {
        files.rlim_cur = files.rlim_max;
        setrlimit(RLIMIT_NOFILE, &files);
    }
}

/* Comes last: setting up takes more descriptors than some guests are allowed. */
void limit_open_files(const struct plan *plan) {
    for (size_t i = 0; i < plan->rlimit_count && WALL_IS_UP(plan, WALL_RLIMITS); i++)
        if (plan->rlimits[i].resource == RLIMIT_NOFILE)
            set_one(RLIMIT_NOFILE, plan->rlimits[i].value);
}
