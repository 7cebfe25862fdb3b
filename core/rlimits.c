/* The limits that the kernel holds for each process. */
#define _GNU_SOURCE
#include "fortify.h"
#include "rlimits.h"
#include "cgroup.h"
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

/* RLIMIT_DATA keeps one process from running far ahead of the supervisor's count. A control group needs no
 * such help, and what is mapped and never used counts for nothing there: AddressSanitizer maps 15 TB. */
static uint64_t value_of(const struct plan *plan, size_t i) {
    const uint64_t roomy = 1ULL << 45;
    uint64_t value = plan->rlimits[i].value;
    return plan->rlimits[i].resource == RLIMIT_DATA && cgroup_holds_memory() && value < roomy ? roomy : value;
}

void set_rlimits(const struct plan *plan) {
    for (size_t i = 0; i < plan->rlimit_count && WALL_IS_UP(plan, WALL_RLIMITS); i++)
        if (plan->rlimits[i].resource != RLIMIT_NOFILE)
            set_one(plan->rlimits[i].resource, value_of(plan, i));
}

/* For the launcher itself: how many descriptors its user may have in flight is judged by the sender's
 * limit (unix(7), ETOOMANYREFS), and a guest of the same user may have many. */
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
