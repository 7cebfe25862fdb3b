/* sysfs: file system types by number and name. */
#define CAPABILITY "syscall_sysfs"
#include "_runner_c.h"

#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifdef SYS_sysfs
CHECK(counts_the_types) {
    want(works(syscall(SYS_sysfs, 3), "sysfs 3") > 0, "there are none");
}

CHECK(gives_the_name_of_a_number_and_the_number_of_a_name) {
    char name[64] = "";
    long number = works(syscall(SYS_sysfs, 1, "proc"), "sysfs 1");
    works(syscall(SYS_sysfs, 2, number, name), "sysfs 2");
    want(strcmp(name, "proc") == 0, "type %ld is %s", number, name);
}

CHECK(refuses_types_that_are_none) {
    refuses(syscall(SYS_sysfs, 1, "no-such-type"), EINVAL, "a name of none");
    refuses(syscall(SYS_sysfs, 9), EINVAL, "question 9");
}

CHECK(refuses_a_bad_address) {
    refuses(syscall(SYS_sysfs, 1, (void *)8), EFAULT, "a name at 8");
}
#else
CHECK(is_of_other_machines) {
    unavailable("this architecture has no sysfs");
}
#endif

CHECKS
