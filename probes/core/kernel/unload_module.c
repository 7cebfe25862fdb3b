/* Code can be unloaded from the kernel. Asked for a module whose name no module can have. */
#define CAPABILITY "kernel_unload_module"
#include "_runner_c.h"

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

static void exercise(void) {
    if (syscall(SYS_delete_module, "no/such/module", O_NONBLOCK) == 0 || errno == ENOENT)
        allowed("delete_module looked for the name: the right to unload was there");
    blocked("delete_module");
}

PROBE(exercise)
