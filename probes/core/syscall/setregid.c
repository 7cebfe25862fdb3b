/* setregid: real and effective group of the process. */
#define CAPABILITY "syscall_setregid"
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
    works(syscall(SYS_setregid, own, own), "setregid");
    want(are(own, own, own), "others");
}

CHECK(of_minus_1_changes_nothing) {
    gid_t own = getgid();
    works(syscall(SYS_setregid, -1, -1), "setregid");
    want(are(own, own, own), "others");
}

CHECK(exchanges_the_two) {
    if (!holds(CAP_SETGID))
        unavailable("it takes CAP_SETGID to have more than one group");
    works(setresgid(1001, 1002, 1002), "setresgid");
    be_ordinary();
    works(syscall(SYS_setregid, 1002, 1001), "setregid");
    want(are(1002, 1001, 1001), "not exchanged");
}

CHECK(refuses_another_group) {
    be_ordinary();
    refused(syscall(SYS_setregid, getgid() + 1, -1));
    refused(syscall(SYS_setregid, -1, getgid() + 1));
    gid_t own = getgid();
    want(are(own, own, own), "others");
}

CHECKS
