/* sched_setattr: the scheduling policy of a thread in full. */
#define CAPABILITY "syscall_sched_setattr"
#include "_runner_c.h"

#include <sched.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

struct attributes {
    uint32_t size, policy;
    uint64_t flags;
    int32_t nice;
    uint32_t priority;
    uint64_t runtime, deadline, period;
};

static long set(pid_t pid, struct attributes *attributes, unsigned flags) {
    return syscall(SYS_sched_setattr, pid, attributes, flags);
}

CHECK(sets_policy_and_niceness) {
    struct attributes batch = {.size = sizeof batch, .policy = SCHED_BATCH, .nice = 15};
    works(set(0, &batch, 0), "sched_setattr");
    want(sched_getscheduler(0) == SCHED_BATCH, "another policy");
    want(getpriority(PRIO_PROCESS, 0) == 15, "another niceness");
}

CHECK(reaches_a_child_and_not_its_parent) {
    struct attributes idle = {.size = sizeof idle, .policy = SCHED_IDLE};
    pid_t child = child_that(waits);
    works(set(child, &idle, 0), "sched_setattr");
    want(sched_getscheduler(child) == SCHED_IDLE && sched_getscheduler(0) != SCHED_IDLE, "others");
}

CHECK(refuses_real_time_without_the_privilege) {
    struct attributes first = {.size = sizeof first, .policy = SCHED_FIFO, .priority = 1};
    struct rlimit limit = {0, 0};
    works(setrlimit(RLIMIT_RTPRIO, &limit), "setrlimit");
    be_ordinary();
    refuses(set(0, &first, 0), EPERM, "SCHED_FIFO");
}

CHECK(refuses_an_unknown_policy) {
    struct attributes unknown = {.size = sizeof unknown, .policy = 99};
    refuses(set(0, &unknown, 0), EINVAL, "policy 99");
}

CHECK(refuses_unknown_flags) {
    struct attributes batch = {.size = sizeof batch, .policy = SCHED_BATCH};
    refuses(set(0, &batch, 1), EINVAL, "flag 1");
    batch.flags = 1UL << 40;
    refuses(set(0, &batch, 0), EINVAL, "flag 40 of the attributes");
}

CHECK(refuses_a_longer_structure_and_reports_the_size) {
    struct {
        struct attributes attributes;
        uint64_t more[64];
    } longer = {.attributes = {.size = sizeof longer, .policy = SCHED_BATCH}, .more = {[63] = 1}};
    refuses(set(0, &longer.attributes, 0), E2BIG, "a longer structure");
    want(longer.attributes.size >= 48 && longer.attributes.size < sizeof longer, "no size returned");
}

CHECK(refuses_nobody) {
    struct attributes batch = {.size = sizeof batch, .policy = SCHED_BATCH};
    refuses(set(0x7ffffff0, &batch, 0), ESRCH, "nobody");
}

CHECK(refuses_a_bad_address) {
    refuses(set(0, (struct attributes *)8, 0), EFAULT, "address 8");
}

CHECKS
