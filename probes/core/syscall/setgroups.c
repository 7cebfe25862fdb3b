/* setgroups: the supplementary groups, for the privileged. */
#define CAPABILITY "syscall_setgroups"
#include "_runner_c.h"

#include <linux/capability.h>
#include <sys/syscall.h>
#include <unistd.h>

static gid_t groups[] = {7, 8}, current[8];

static void need_the_privilege(void) {
    if (!holds(CAP_SETGID))
        unavailable("it takes CAP_SETGID to set groups");
}

CHECK(refuses_who_has_no_privilege) {
    be_ordinary();
    refuses(syscall(SYS_setgroups, 2, groups), EPERM, "setgroups");
    refuses(syscall(SYS_setgroups, 0, NULL), EPERM, "setgroups of none");
}

CHECK(sets_the_groups) {
    need_the_privilege();
    works(syscall(SYS_setgroups, 2, groups), "setgroups");
    want(getgroups(8, current) == 2 && current[0] + current[1] == 15, "other groups");
}

CHECK(takes_all_away) {
    need_the_privilege();
    works(syscall(SYS_setgroups, 0, NULL), "setgroups");
    want(getgroups(0, NULL) == 0, "some are left");
}

CHECK(refuses_too_many) {
    need_the_privilege();
    refuses(syscall(SYS_setgroups, 65537, groups), EINVAL, "65,537 groups");
}

CHECK(refuses_a_bad_address) {
    need_the_privilege();
    refuses(syscall(SYS_setgroups, 2, 8), EFAULT, "groups at address 8");
}

CHECKS
