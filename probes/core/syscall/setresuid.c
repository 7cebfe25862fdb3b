/* setresuid: real, effective and saved user of the process. */
#define CAPABILITY "syscall_setresuid"
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

CHECK(takes_the_ones_it_has) {
    uid_t own = getuid();
    works(syscall(SYS_setresuid, own, own, own), "setresuid");
    want(are(own, own, own), "others");
}

CHECK(of_minus_1_changes_nothing) {
    uid_t own = getuid();
    works(syscall(SYS_setresuid, -1, -1, -1), "setresuid");
    want(are(own, own, own), "others");
}

CHECK(sets_each_for_the_privileged) {
    if (!holds(CAP_SETUID))
        unavailable("it takes CAP_SETUID to have more than one user");
    works(syscall(SYS_setresuid, 1001, 1002, 1003), "setresuid");
    want(are(1001, 1002, 1003), "others");
}

CHECK(moves_among_the_three_without_privilege) {
    if (!holds(CAP_SETUID))
        unavailable("it takes CAP_SETUID to have more than one user");
    works(syscall(SYS_setresuid, 1001, 1002, 1003), "setresuid");
    be_ordinary();
    works(syscall(SYS_setresuid, 1003, 1001, 1002), "setresuid");
    want(are(1003, 1001, 1002), "others");
}

CHECK(refuses_another_user) {
    uid_t own = getuid();
    be_ordinary();
    refused(syscall(SYS_setresuid, own + 1, -1, -1));
    refused(syscall(SYS_setresuid, -1, own + 1, -1));
    refused(syscall(SYS_setresuid, -1, -1, own + 1));
    want(are(own, own, own), "others");
}

CHECKS
