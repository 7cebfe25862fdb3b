/* What will come of a lookup in the guest's root (fuse_root.c): which call of the guest's made it, and what
 * that call will run into. */
#define _GNU_SOURCE
#include "fortify.h"
#include "lookups.h"
#include "call.h"
#include "current_call.h"
#include "judge.h"
#include "plan.h"
#include "seccomp.h"
#include "sight.h"
#include "subject.h"

#include <fcntl.h>
#include <string.h>
#include <sys/syscall.h>

/* Every dynamically linked program looks for it first, ld.so(8), and waits for us: where the host does not have
 * it either, nothing is refused. */
#define PRELOAD "/etc/ld.so.preload"

/* These reach the supervisor by themselves, as notifications. */
static bool notified(const struct plan *plan, const struct subject *about) {
    const struct watched *w = about->watched;
    enum { CHANGES = O_WRONLY | O_RDWR | O_CREAT | O_TRUNC };
    switch (w->kind) {
    case WATCH_LOOK:
        return false;
    case WATCH_MESSAGES:
        return about->call.number != SYS_sendmsg || every_call_is_watched(plan);
    case WATCH_OPEN:
        return w->flags < 0 || (about->call.args[w->flags] & CHANGES) ||
               (plan->opens && !(about->call.args[w->flags] & O_PATH));
    default:
        return true;
    }
}

void lookup_judge(const struct plan *plan, pid_t inside) {
    static struct subject about;
    if (inside <= 1)
        return;
    about = (struct subject){.call.task = -inside};
    sight_asker(-inside);
    if (!read_current_call(&about.call))
        return;
    /* Not among the watched calls, because it hands over the listener itself. */
    static const struct watched message = {.kind = WATCH_MESSAGES, .dir = -1, .path = -1, .other_dir = -1, .other = -1, .flags = -1, .access = -1};
    about.watched = about.call.number == SYS_sendmsg ? &message : &plan->watched_calls[about.call.number];
    if (!about.watched->kind || notified(plan, &about))
        return;
    read_subject(&about);
    if (plan->no_preload && about.has_path && strcmp(about.path, PRELOAD) == 0)
        return;
    judge(plan, &about);
}
