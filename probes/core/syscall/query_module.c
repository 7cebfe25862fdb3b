/* query_module: modules of the kernel, as kernels before 2.6 listed them. */
#define CAPABILITY "syscall_query_module"
#include "_runner_c.h"

#include <sys/syscall.h>
#include <unistd.h>

#ifdef SYS_query_module
CHECK(reports_modules) {
    works(syscall(SYS_query_module, NULL, 0, NULL, 0, NULL), "a query of nothing");
}
#else
CHECK(is_of_other_machines) {
    unavailable("this architecture has no query_module");
}
#endif

CHECKS
