/* Signals of a confined guest, where the kernel's Landlock does not judge them (before ABI 6).
 *
 * What a process sends to itself or to its own group goes on: both are the guest's as long as the call
 * waits. Everything else is sent by us, through a pidfd of a process that is seen to be the guest's after
 * the pidfd was opened: its number may be somebody else's before and after. */
#define _GNU_SOURCE
#include "fortify.h"
#include "sent_signals.h"
#include "numbers.h"
#include "process_tree.h"
#include "tasks.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef SYS_pidfd_send_signal
#define SYS_pidfd_send_signal 424
#define SYS_pidfd_open 434
#endif

static pid_t process_of(pid_t task) {
    char status[4096];
    return task_read(task, "status", status, sizeof status) > 0 ? (pid_t)number_after(status, "\nTgid:\t", false) : 0;
}

static pid_t group_of(pid_t process) {
    long group = syscall(SYS_getpgid, process);
    return group > 0 ? (pid_t)group : 0;
}

/* To one process of the guest's; ESRCH for all others, as if they were not there. */
static int send_one(pid_t process, int signal) {
    int fd = (int)syscall(SYS_pidfd_open, process, 0), error = ESRCH;
    if (fd < 0)
        return ESRCH;
    if (tree_has(process))
        error = syscall(SYS_pidfd_send_signal, fd, signal, NULL, 0) < 0 ? errno : 0;
    close(fd);
    return error;
}

struct many {
    pid_t group, but; /* the first 0: every process */
    int signal;
    bool any;
};

static void send_each(const char *name, void *context) {
    struct many *many = context;
    uint64_t process;
    if (!next_number(name, &process) || (pid_t)process == many->but)
        return;
    if (many->group && group_of((pid_t)process) != many->group)
        return;
    many->any = send_one((pid_t)process, many->signal) == 0 || many->any;
}

struct deputy_answer sent_signal(int listener, const struct seccomp_notif *request, const struct call *call) {
    const struct deputy_answer goes_on = {.deed = DEED_GOES_ON};
    int to = (int)call->args[0], signal = (int)call->args[call->number == SYS_tgkill ? 2 : 1];
    pid_t own = process_of(call->task);
    if (!own || !deputy_still_waits(listener, request->id) || signal < 0 || signal >= NSIG)
        return (struct deputy_answer){DEED_DONE, EINVAL, 0};
    if (call->number == SYS_tgkill && to == own)
        return goes_on; /* the kernel finds its thread in its own process alone */
    if (call->number == SYS_tkill)
        return to == call->task ? goes_on : (struct deputy_answer){DEED_DONE, send_one(process_of(to), signal), 0};
    if (call->number == SYS_tgkill)
        return (struct deputy_answer){DEED_DONE, send_one(to, signal), 0};
    if (to == own || to == 0 || to == -group_of(own))
        return goes_on;
    if (to > 0)
        return (struct deputy_answer){DEED_DONE, send_one(to, signal), 0};
    struct many many = {.group = to == -1 ? 0 : -to, .but = own, .signal = signal};
    each_process(-1, send_each, &many);
    return (struct deputy_answer){DEED_DONE, many.any ? 0 : ESRCH, 0};
}
