/* ioperm: hardware ports for a process; asked for ports that are none, and for no right. */
#define CAPABILITY "syscall_ioperm"
#include "_runner_c.h"

#include <sys/syscall.h>
#include <unistd.h>

#ifdef SYS_ioperm
CHECK(takes_a_right_that_nobody_gave) {
    works(syscall(SYS_ioperm, 0x80, 1, 0), "ioperm to give port 0x80 back");
}

CHECK(refuses_ports_that_are_none) {
    refuses(syscall(SYS_ioperm, 0x10000, 1, 0), EINVAL, "port 0x10000");
    refuses(syscall(SYS_ioperm, 1, -1ul, 0), EINVAL, "2^64-1 ports");
}
#else
CHECK(is_of_other_machines) {
    unavailable("this architecture has no ioperm");
}
#endif

CHECKS
