/* init_module: asked to load what is no module. */
#define CAPABILITY "syscall_init_module"
#include "_runner_c.h"

#include <sys/syscall.h>
#include <unistd.h>

CHECK(refuses_what_is_no_module) {
    static char bytes[4096] = "this is not a module";
    refuses(syscall(SYS_init_module, bytes, sizeof bytes, ""), ENOEXEC, "a text");
}

CHECK(refuses_a_bad_address) {
    refuses(syscall(SYS_init_module, (void *)8, 4096, ""), EFAULT, "a module at 8");
}

CHECKS
