/* Refused calls that are allowed while the sum of one argument fits a budget: fallocate within the disk
 * limit, io_setup and vmsplice within a quota of the run. Continuing the call is safe here, and only here:
 * the decision uses a register, which no other thread can change, and a sum, which only grows. */
#define _GNU_SOURCE
#include "fortify.h"
#include "quotas.h"
#include "cgroup.h"
#include "plan.h"

static uint64_t spent;
static uint64_t taken[MAX_QUOTAS]; /* of each */

uint64_t quotas_disk_spent(void) { return spent; }

/* Negative, zero, or too large: the kernel itself refuses it, fallocate(2). */
static bool is_no_range(uint64_t offset, uint64_t length) {
    return offset > INT64_MAX || length == 0 || length > INT64_MAX - offset;
}

static bool within_budget(const struct plan *plan, const uint64_t *args) {
    uint64_t amount = args[plan->budget_arg];
    if (!plan->disk_bytes || is_no_range(args[plan->budget_arg - 1], amount))
        return true;
    if (amount > plan->disk_bytes || spent > plan->disk_bytes - amount)
        return false;
    spent += amount;
    return true;
}

static bool within_quota(const struct plan *plan, int number, const uint64_t *args) {
    for (size_t i = 0; i < plan->quota_count; i++) {
        const struct quota *quota = &plan->quotas[i];
        if (quota->call != number)
            continue;
        uint64_t amount = (uint32_t)args[quota->arg];
        if (quota->uncounted && cgroup_version())
            return true;
        if (amount > quota->most || taken[i] > quota->most - amount)
            return false;
        taken[i] += amount;
        return true;
    }
    return false;
}

bool quotas_allow(const struct plan *plan, int number, const uint64_t *args) {
    return number == plan->budget_call ? within_budget(plan, args) : within_quota(plan, number, args);
}
