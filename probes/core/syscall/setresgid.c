/* setresgid: real, effective and saved group of the process. */
#define CAPABILITY "syscall_setresgid"
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

CHECK(takes_the_ones_it_has) {
    gid_t own = getgid();
    works(syscall(SYS_setresgid, own, own, own), "setresgid");
    want(are(own, own, own), "others");
}

CHECK(of_minus_1_changes_nothing) {
    gid_t own = getgid();
    works(syscall(SYS_setresgid, -1, -1, -1), "setresgid");
    want(are(own, own, own), "others");
}

CHECK(sets_each_for_the_privileged) {
    if (!holds(CAP_SETGID))
        unavailable("it takes CAP_SETGID to have more than one group");
    works(syscall(SYS_setresgid, 1001, 1002, 1003), "setresgid");
    want(are(1001, 1002, 1003), "others");
}

CHECK(moves_among_the_three_without_privilege) {
    if (!holds(CAP_SETGID))
        unavailable("it takes CAP_SETGID to have more than one group");
    works(syscall(SYS_setresgid, 1001, 1002, 1003), "setresgid");
    be_ordinary();
    works(syscall(SYS_setresgid, 1003, 1001, 1002), "setresgid");
    want(are(1003, 1001, 1002), "others");
}

CHECK(refuses_another_group) {
    gid_t own = getgid();
    be_ordinary();
    refused(syscall(SYS_setresgid, own + 1, -1, -1));
    refused(syscall(SYS_setresgid, -1, own + 1, -1));
    refused(syscall(SYS_setresgid, -1, -1, own + 1));
    want(are(own, own, own), "others");
}

CHECKS
