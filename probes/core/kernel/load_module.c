/* Code can be loaded into the kernel. Asked with a descriptor that is not open. */
#define CAPABILITY "kernel_load_module"
#include "_runner_c.h"

#include <sys/syscall.h>
#include <unistd.h>

static void exercise(void) {
    if (syscall(SYS_finit_module, -1, "", 0) == 0 || errno == EBADF)
        allowed("finit_module looked at its descriptor: the right to load was there");
    blocked("finit_module");
}

PROBE(exercise)
