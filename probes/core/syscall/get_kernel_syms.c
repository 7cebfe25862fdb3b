/* get_kernel_syms: symbols of the kernel, as kernels before 2.6 listed them. */
#define CAPABILITY "syscall_get_kernel_syms"
#include "_runner_c.h"

#include <sys/syscall.h>
#include <unistd.h>

#ifdef SYS_get_kernel_syms
CHECK(counts_the_kernel_s_symbols) {
    works(syscall(SYS_get_kernel_syms, NULL), "the number of symbols");
}
#else
CHECK(is_of_other_machines) {
    unavailable("this architecture has no get_kernel_syms");
}
#endif

CHECKS
