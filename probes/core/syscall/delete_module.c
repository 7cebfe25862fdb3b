/* delete_module: asked to unload what is not loaded. */
#define CAPABILITY "syscall_delete_module"
#include "_runner_c.h"

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

CHECK(refuses_a_module_that_is_not_loaded) {
    refuses(syscall(SYS_delete_module, "no_such_module_of_wardian", O_NONBLOCK), ENOENT, "nothing");
}

CHECK(refuses_a_bad_address) {
    refuses(syscall(SYS_delete_module, (void *)8, O_NONBLOCK), EFAULT, "a name at 8");
}

CHECKS
