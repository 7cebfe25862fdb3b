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

static struct attributes told;

static long get(pid_t pid, size_t size, unsigned flags) {
    return syscall(SYS_sched_getattr, pid, &told, size, flags);
}

CHECK(tells_what_was_set) {
    struct attributes batch = {.size = sizeof batch, .policy = SCHED_BATCH, .nice = 15};
    works(set(0, &batch, 0), "sched_setattr");
    works(get(0, sizeof told, 0), "sched_getattr");
    want(told.policy == SCHED_BATCH, "policy %u", told.policy);
    want(told.nice == 15, "nice %d", told.nice);
    want(told.size == sizeof told, "the size is %u", told.size);
}

CHECK(tells_that_of_a_child) {
    pid_t child = child_that(waits);
    works(setpriority(PRIO_PROCESS, (id_t)child, 16), "setpriority");
    works(get(child, sizeof told, 0), "sched_getattr");
    want(told.nice == 16, "nice %d", told.nice);
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
    refuses(get(0, sizeof told, 0x80), EINVAL, "flag 0x80");
}

CHECK(refuses_nobody) {
    refuses(get(0x7ffffff0, sizeof told, 0), ESRCH, "nobody");
}

CHECK(refuses_a_bad_address) {
    refuses(syscall(SYS_sched_getattr, 0, 8, sizeof told, 0), EFAULT, "address 8");
}

CHECKS
