/* The walls of a guest without namespaces: who it is, what it may reach, what it may call. Nothing here
 * needs a right that an ordinary user lacks; started by root, the guest is somebody else. */
#define _GNU_SOURCE
#include "fortify.h"
#include "confined.h"
#include "capabilities.h"
#include "connecting.h"
#include "fail.h"
#include "guest.h"
#include "identity.h"
#include "landlock.h"
#include "omitted_walls.h"
#include "own_shm.h"
#include "reach.h"
#include "rlimits.h"
#include "seccomp.h"
#include "sight.h"
#include "tasks.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <sys/prctl.h>
#include <unistd.h>

#define ABSTRACT_SCOPE 1ULL

void confined_check(const struct plan *plan) {
    choose_identity(plan);
    if (caller_is_root() && (!plan->uid || !plan->gid))
        die(EPERM, "identity", "starting a guest of root's that would be root itself");
    if (!caller_is_root() && plan->uid)
        die(EPERM, "identity", "becoming another user");
    if (caller_is_root() && setgroups(0, NULL) < 0) /* none of root's when we act for the guest */
        die(errno, "identity", "dropping supplementary groups");
    connecting_prepare();
}

void confined_reaper(const struct plan *plan) {
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
        die(errno, "no_new_privs", "setting no_new_privs");
    if (plan->landlock_scoped & ABSTRACT_SCOPE && WALL_IS_UP(plan, WALL_LANDLOCK))
        landlock_scope(ABSTRACT_SCOPE);
}

void confined_identity(const struct plan *plan) {
    forget_session_keyring(plan);
    if (plan->uid && WALL_IS_UP(plan, WALL_IDENTITY)) {
        limit_capabilities(plan);
        take_identity(plan);
    }
    drop_capabilities(plan);
}

void confined_start(const struct plan *plan, int ctl) {
    restrict_with_landlock(plan);
    bool late = may_limit_later(plan);
    if (!late) /* the filter refuses what sets limits */
        limit_open_files(plan);
    if (every_call_is_watched(plan))
        announce_by_sibling(plan, ctl, -1);
    else
        announce(ctl, install_filter(plan), -1);
    if (late)
        limit_open_files(plan);
}

void confined_attach(const struct plan *plan, int proc) {
    reach_remember(plan);
    own_shm_attach(plan);
    tasks_attach(proc);
    sight_attach(open("/", O_PATH | O_DIRECTORY | O_CLOEXEC), proc);
}
