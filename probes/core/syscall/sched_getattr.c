/* sched_getattr: the scheduling policy of a thread in full. */
#define CAPABILITY "syscall_sched_getattr"
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

static struct attributes current;

static long get(pid_t pid, size_t size, unsigned flags) {
    return syscall(SYS_sched_getattr, pid, &current, size, flags);
}

CHECK(reports_what_was_set) {
    struct attributes batch = {.size = sizeof batch, .policy = SCHED_BATCH, .nice = 15};
    works(set(0, &batch, 0), "sched_setattr");
    works(get(0, sizeof current, 0), "sched_getattr");
    want(current.policy == SCHED_BATCH, "policy %u", current.policy);
    want(current.nice == 15, "nice %d", current.nice);
    want(current.size == sizeof current, "the size is %u", current.size);
}

CHECK(reports_that_of_a_child) {
    pid_t child = child_that(waits);
    works(setpriority(PRIO_PROCESS, (id_t)child, 16), "setpriority");
    works(get(child, sizeof current, 0), "sched_getattr");
    want(current.nice == 16, "nice %d", current.nice);
}

CHECK(fills_a_longer_structure_only_as_far_as_it_knows) {
    char room[200] = {0};
    works(syscall(SYS_sched_getattr, 0, room, sizeof room, 0), "sched_getattr");
    want(((struct attributes *)(void *)room)->size < sizeof room, "it knows that much");
}

CHECK(refuses_a_short_structure) {
    refuses(get(0, 40, 0), EINVAL, "40 bytes");
}

CHECK(refuses_unknown_flags) {
    refuses(get(0, sizeof current, 0x80), EINVAL, "flag 0x80");
}

CHECK(refuses_nobody) {
    refuses(get(0x7ffffff0, sizeof current, 0), ESRCH, "nobody");
}

CHECK(refuses_a_bad_address) {
    refuses(syscall(SYS_sched_getattr, 0, 8, sizeof current, 0), EFAULT, "address 8");
}

CHECKS
