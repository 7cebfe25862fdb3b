/* setreuid: real and effective user of the process. */
#define CAPABILITY "syscall_setreuid"
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
    works(syscall(SYS_setreuid, own, own), "setreuid");
    want(are(own, own, own), "others");
}

CHECK(of_minus_1_changes_nothing) {
    uid_t own = getuid();
    works(syscall(SYS_setreuid, -1, -1), "setreuid");
    want(are(own, own, own), "others");
}

CHECK(exchanges_the_two) {
    if (!holds(CAP_SETUID))
        unavailable("it takes CAP_SETUID to have more than one user");
    works(setresuid(1001, 1002, 1002), "setresuid");
    be_ordinary();
    works(syscall(SYS_setreuid, 1002, 1001), "setreuid");
    want(are(1002, 1001, 1001), "not exchanged");
}

CHECK(refuses_another_user) {
    be_ordinary();
    refused(syscall(SYS_setreuid, getuid() + 1, -1));
    refused(syscall(SYS_setreuid, -1, getuid() + 1));
    uid_t own = getuid();
    want(are(own, own, own), "others");
}

CHECKS
