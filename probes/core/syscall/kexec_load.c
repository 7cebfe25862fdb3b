/* kexec_load: asked for kernels of no machine, so nothing is loaded. */
#define CAPABILITY "syscall_kexec_load"
#include "_runner_c.h"

#include <sys/syscall.h>
#include <unistd.h>

CHECK(refuses_another_machine_s_kernel) {
    refuses(syscall(SYS_kexec_load, 0, 0, NULL, 0x7fff0000ul), EINVAL, "machine 0x7fff");
}

CHECK(refuses_unknown_flags) {
    refuses(syscall(SYS_kexec_load, 0, 0, NULL, 0x8000ul), EINVAL, "flag 0x8000");
}

CHECKS
