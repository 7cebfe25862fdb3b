/* setgid: the group of the process, for good. */
#define CAPABILITY "syscall_setgid"
#include "_runner_c.h"

#include <linux/capability.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Another group is refused; where only some are mapped, the others are no ids at all. */
static void refused(long result) {
    want(result == -1, "became another");
    if (errno != EPERM)
        refuses(result, EINVAL, "another group");
}

static int are(gid_t real, gid_t effective, gid_t saved) {
    gid_t ids[3];
    works(getresgid(&ids[0], &ids[1], &ids[2]), "getresgid");
    return ids[0] == real && ids[1] == effective && ids[2] == saved;
}

CHECK(takes_the_group_it_has) {
    gid_t own = getgid();
    works(syscall(SYS_setgid, own), "setgid");
    want(are(own, own, own), "others");
}

CHECK(sets_all_three_for_the_privileged) {
    if (!holds(CAP_SETGID))
        unavailable("it takes CAP_SETGID to have more than one group");
    works(syscall(SYS_setgid, 65534), "setgid");
    want(are(65534, 65534, 65534), "not all three");
}

CHECK(sets_the_effective_alone_without_privilege) {
    if (!holds(CAP_SETGID))
        unavailable("it takes CAP_SETGID to have more than one group");
    works(setresgid(1001, 1001, 1002), "setresgid");
    be_ordinary();
    works(syscall(SYS_setgid, 1002), "setgid");
    want(are(1001, 1002, 1002), "others");
}

CHECK(refuses_another_group) {
    be_ordinary();
    refused(syscall(SYS_setgid, getgid() + 1));
}

CHECK(refuses_minus_1) {
    refuses(syscall(SYS_setgid, -1), EINVAL, "setgid -1");
}

CHECKS
