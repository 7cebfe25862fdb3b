/* iopl: hardware ports for a process; asked for levels that are none, and for no right. */
#define CAPABILITY "syscall_iopl"
#include "_runner_c.h"

#include <sys/syscall.h>
#include <unistd.h>

#ifdef SYS_iopl
CHECK(gives_no_right_if_asked_for_none) {
    works(syscall(SYS_iopl, 0), "iopl to level 0");
}

CHECK(refuses_levels_that_are_none) {
    refuses(syscall(SYS_iopl, 4), EINVAL, "level 4");
}
#else
CHECK(is_of_other_machines) {
    unavailable("this architecture has no iopl");
}
#endif

CHECKS
