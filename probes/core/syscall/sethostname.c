/* sethostname: a name that is set, in a namespace of the check's own. */
#define CAPABILITY "syscall_sethostname"
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
    works(syscall(SYS_sethostname, "glass", 5), "sethostname");
    works(uname(&now), "uname");
    want(strcmp(now.nodename, "glass") == 0, "the name is %s", now.nodename);
}

CHECK(refuses_a_long_name) {
    char name[65];
    memset(name, 'x', sizeof name);
    alone();
    refuses(syscall(SYS_sethostname, name, 65), EINVAL, "65 bytes");
    refuses(syscall(SYS_sethostname, name, -1), EINVAL, "-1 bytes");
}

CHECK(refuses_a_bad_address) {
    alone();
    refuses(syscall(SYS_sethostname, (void *)8, 5), EFAULT, "a name at 8");
}

CHECKS
