/* New namespaces, into which the reaper is born. */
#define _GNU_SOURCE
#include "fortify.h"
#include "namespaces.h"
#include "cgroup.h"
#include "fail.h"
#include "omitted_walls.h"
#include "plan.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static uint64_t namespace_flags(const struct plan *plan) {
    if (plan->bare.wanted)
        return 0;
    uint64_t flags = CLONE_NEWUSER | CLONE_NEWNS;
    if (WALL_IS_UP(plan, WALL_PID))
        flags |= CLONE_NEWPID;
    if (WALL_IS_UP(plan, WALL_IPC))
        flags |= CLONE_NEWIPC;
    if (WALL_IS_UP(plan, WALL_UTS))
        flags |= CLONE_NEWUTS;
    if (WALL_IS_UP(plan, WALL_CGROUP))
        flags |= CLONE_NEWCGROUP;
    return flags; /* the network namespace is made later: network.c */
}

/* Only clone3 can put the child into a control group from the start. -1 where that can't be. */
static pid_t clone_into_cgroup(uint64_t flags, int *pidfd) {
    struct {
        uint64_t flags, pidfd, child_tid, parent_tid, exit_signal, stack, stack_size, tls, set_tid,
            set_tid_size, cgroup;
    } args = {.flags = flags | CLONE_PIDFD | 0x200000000ULL /* CLONE_INTO_CGROUP */,
              .pidfd = (uint64_t)(uintptr_t)pidfd, .exit_signal = SIGCHLD};
    if (cgroup_birthplace() < 0)
        return -1;
    args.cgroup = (uint64_t)cgroup_birthplace();
    return (pid_t)syscall(SYS_clone3, &args, sizeof args);
}

pid_t clone_into_namespaces(const struct plan *plan, int *pidfd) {
    uint64_t flags = namespace_flags(plan);
    pid_t born = clone_into_cgroup(flags, pidfd);
    if (born >= 0)
        return born;
    /* clone rather than clone3: containers often answer clone3 with ENOSYS. */
    pid_t child = (pid_t)syscall(SYS_clone, flags | CLONE_PIDFD | SIGCHLD, 0, pidfd, 0, 0);
    if (child < 0)
        die(errno, "namespaces", "creating new namespaces");
    if (child > 0)
        cgroup_move(child);
    return child;
}
