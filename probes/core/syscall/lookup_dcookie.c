/* lookup_dcookie: paths by number, for a profiler. */
#define CAPABILITY "syscall_lookup_dcookie"
#include "_runner_c.h"

#include <sys/syscall.h>
#include <unistd.h>

#ifdef SYS_lookup_dcookie
CHECK(refuses_a_number_of_no_path) {
    char path[64];
    refuses(syscall(SYS_lookup_dcookie, 0, path, sizeof path), EINVAL, "number 0");
}
#else
CHECK(is_of_other_machines) {
    unavailable("this architecture has no lookup_dcookie");
}
#endif

CHECKS
