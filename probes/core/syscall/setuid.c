/* setuid: the user of the process, for good. */
#define CAPABILITY "syscall_setuid"
#include "_runner_c.h"

#include <linux/capability.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Another user is refused; where only some are mapped, the others are no ids at all. */
static void refused(long result) {
    want(result == -1, "became another");
    if (errno != EPERM)
        refuses(result, EINVAL, "another user");
}

static int are(uid_t real, uid_t effective, uid_t saved) {
    uid_t ids[3];
    works(getresuid(&ids[0], &ids[1], &ids[2]), "getresuid");
    return ids[0] == real && ids[1] == effective && ids[2] == saved;
}

CHECK(takes_the_user_it_has) {
    uid_t own = getuid();
    works(syscall(SYS_setuid, own), "setuid");
    want(are(own, own, own), "others");
}

CHECK(sets_all_three_for_the_privileged) {
    if (!holds(CAP_SETUID))
        unavailable("it takes CAP_SETUID to have more than one user");
    works(syscall(SYS_setuid, 65534), "setuid");
    want(are(65534, 65534, 65534), "not all three");
}

CHECK(sets_the_effective_alone_without_privilege) {
    if (!holds(CAP_SETUID))
        unavailable("it takes CAP_SETUID to have more than one user");
    works(setresuid(1001, 1001, 1002), "setresuid");
    be_ordinary();
    works(syscall(SYS_setuid, 1002), "setuid");
    want(are(1001, 1002, 1002), "others");
}

CHECK(refuses_another_user) {
    be_ordinary();
    refused(syscall(SYS_setuid, getuid() + 1));
}

CHECK(refuses_minus_1) {
    refuses(syscall(SYS_setuid, -1), EINVAL, "setuid -1");
}

CHECKS
