/* uname: what the kernel calls itself. */
#define CAPABILITY "syscall_uname"
#include "_runner_c.h"

#include <string.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

static struct utsname got;

CHECK(reports_linux_and_of_the_machine) {
    works(syscall(SYS_uname, &got), "uname");
    want(strcmp(got.sysname, "Linux") == 0, "it is %s", got.sysname);
    want(got.release[0] >= '2' && got.release[0] <= '9', "release %s", got.release);
#ifdef __x86_64__
    want(strcmp(got.machine, "x86_64") == 0, "machine %s", got.machine);
#endif
}

CHECK(reports_the_same_name_as_the_library) {
    char name[65] = "";
    works(syscall(SYS_uname, &got), "uname");
    works(gethostname(name, sizeof name), "gethostname");
    want(strcmp(got.nodename, name) == 0 && *name, "%s and %s", got.nodename, name);
}

CHECK(refuses_a_bad_address) {
    refuses(syscall(SYS_uname, (void *)8), EFAULT, "an answer at 8");
}

CHECKS
