/* finit_module: asked to load what is no module. */
#define CAPABILITY "syscall_finit_module"
#include "_runner_c.h"

#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

CHECK(refuses_a_closed_descriptor) {
    refuses(syscall(SYS_finit_module, -1, "", 0), EBADF, "-1");
}

CHECK(refuses_what_is_no_module) {
    int fd = (int)works(memfd_create("text", 0), "memfd_create");
    works(write(fd, "this is not a module", 20), "write");
    refuses(syscall(SYS_finit_module, fd, "", 0), ENOEXEC, "a text");
}

CHECK(refuses_unknown_flags) {
    refuses(syscall(SYS_finit_module, -1, "", 0x1000), EINVAL, "flag 0x1000");
}

CHECKS
