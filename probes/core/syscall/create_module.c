/* create_module: room for a module, as kernels before 2.6 had it. */
#define CAPABILITY "syscall_create_module"
#include "_runner_c.h"

#include <sys/syscall.h>
#include <unistd.h>

#ifdef SYS_create_module
CHECK(makes_room_for_a_module) {
    works(syscall(SYS_create_module, "wardian", 4096), "a module's room");
}
#else
CHECK(is_of_other_machines) {
    unavailable("this architecture has no create_module");
}
#endif

CHECKS
