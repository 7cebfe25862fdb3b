/* Installs the filter of the plan, and keeps its listener for the supervisor. */
#define _GNU_SOURCE
#include "fortify.h"
#include "seccomp.h"
#include "call.h"
#include "fail.h"
#include "omitted_walls.h"
#include "plan.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV
#define SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV (1UL << 5)
#endif

/* If sendmsg is watched, so is the message that hands the listener over, before anyone listens. */
bool every_call_is_watched(const struct plan *plan) {
    return plan->notify && plan->watched_calls[SYS_sendmsg].kind != WATCH_NOT;
}

int install_filter(const struct plan *plan) {
    if (!WALL_IS_UP(plan, WALL_SECCOMP))
        return -1;
    struct sock_fprog program = {
        .len = (unsigned short)(plan->filter_len / sizeof(struct sock_filter)),
        .filter = (struct sock_filter *)(uintptr_t)plan->filter,
    };
    unsigned long flags = plan->notify ? SECCOMP_FILTER_FLAG_NEW_LISTENER : 0;
    unsigned long killable = plan->notify ? SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV : 0;
    long listener = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags | killable, &program);
    if (listener < 0 && errno == EINVAL && killable) /* the flag is Linux 5.19's */
        listener = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &program);
    if (listener < 0 && plan->notify && (errno == EBUSY || errno == EINVAL))
        die(errno, "notify", "listening for refused calls"); /* EBUSY: someone outside listens already */
    if (listener < 0)
        die(errno, "seccomp", "installing the system call filter");
    return plan->notify ? (int)listener : -1;
}
