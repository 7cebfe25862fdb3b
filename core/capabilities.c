/* Drops every capability for good, and leaves the caller's session keyring. */
#define _GNU_SOURCE
#include "fortify.h"
#include "capabilities.h"
#include "fail.h"
#include "omitted_walls.h"
#include "plan.h"

#include <errno.h>
#include <linux/capability.h>
#include <linux/keyctl.h>
#include <linux/securebits.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The part that itself needs capabilities: after it, none can be gained. 40 calls of 1.6 µs each, so it is
 * done once, before the guest is forked. */
void limit_capabilities(const struct plan *plan) {
    if (WALL_IS_UP(plan, WALL_CAPABILITIES)) {
        /* Keeping capabilities (PR_SET_KEEPCAPS) stays free: there are none to keep. */
        unsigned long bits = SECBIT_NOROOT | SECBIT_NOROOT_LOCKED | SECBIT_NO_SETUID_FIXUP_LOCKED |
                             SECBIT_NO_CAP_AMBIENT_RAISE | SECBIT_NO_CAP_AMBIENT_RAISE_LOCKED;
        if (prctl(PR_SET_SECUREBITS, bits, 0, 0, 0) < 0)
            die(errno, "capabilities", "locking the secure bits");
        for (unsigned long cap = 0; cap < 64; cap++)
            if (prctl(PR_CAPBSET_DROP, cap, 0, 0, 0) < 0) {
                if (errno == EINVAL)
                    break; /* past the last that this kernel knows */
                die(errno, "capabilities", "dropping capability %lu from the bounding set", cap);
            }
    }
    /* Fatal, never a warning: without it a set-uid program would undo everything above. */
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
        die(errno, "no_new_privs", "setting no_new_privs");
}

void drop_capabilities(const struct plan *plan) {
    if (WALL_IS_UP(plan, WALL_CAPABILITIES)) {
        struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
        struct __user_cap_data_struct none[2] = {{0}, {0}};
        if (syscall(SYS_capset, &header, none) < 0)
            die(errno, "capabilities", "dropping all capabilities");
    }
}

/* The filter refuses keyctl, add_key and request_key; this matters once a policy allows them. A user may have
 * 200 keys; unless keyrings are allowed, a full quota does not stop the run. */
void forget_session_keyring(const struct plan *plan) {
    if (syscall(SYS_keyctl, KEYCTL_JOIN_SESSION_KEYRING, NULL) < 0 && plan->require_keyring)
        die(errno, "keyring", "joining a new session keyring");
}
