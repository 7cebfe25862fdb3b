/* kexec_file_load: asked for kernels in no file, so nothing is loaded. */
#define CAPABILITY "syscall_kexec_file_load"
#include "_runner_c.h"

#include <sys/syscall.h>
#include <unistd.h>

#ifndef SYS_kexec_file_load
#define SYS_kexec_file_load 294
#endif

CHECK(refuses_a_closed_descriptor) {
    refuses(syscall(SYS_kexec_file_load, -1, -1, 1ul, "", 4ul), EBADF, "-1");
}

CHECK(refuses_unknown_flags) {
    refuses(syscall(SYS_kexec_file_load, -1, -1, 1ul, "", 0x8000ul), EINVAL, "flag 0x8000");
}

CHECKS
