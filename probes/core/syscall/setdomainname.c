/* setdomainname: a name that is set, in a namespace of the check's own. */
#define CAPABILITY "syscall_setdomainname"
#include "_runner_c.h"

#include <sched.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

/* Names of one's own: for root at once, for others in a user namespace of theirs. */
static void alone(void) {
    if (unshare(CLONE_NEWUTS) < 0)
        works(unshare(CLONE_NEWUSER | CLONE_NEWUTS), "unshare");
}

CHECK(sets_the_name) {
    struct utsname now;
    alone();
    works(syscall(SYS_setdomainname, "glass", 5), "setdomainname");
    works(uname(&now), "uname");
    want(strcmp(now.domainname, "glass") == 0, "the name is %s", now.domainname);
}

CHECK(refuses_a_long_name) {
    char name[65];
    memset(name, 'x', sizeof name);
    alone();
    refuses(syscall(SYS_setdomainname, name, 65), EINVAL, "65 bytes");
    refuses(syscall(SYS_setdomainname, name, -1), EINVAL, "-1 bytes");
}

CHECK(refuses_a_bad_address) {
    alone();
    refuses(syscall(SYS_setdomainname, (void *)8, 5), EFAULT, "a name at 8");
}

CHECKS
