/* Files can be read by the kernel's old asynchronous calls (io_setup), as databases do. */
#define CAPABILITY "kernel_async_io"
#include "_runner_c.h"

#include <linux/aio_abi.h>
#include <sys/syscall.h>
#include <unistd.h>

static void exercise(void) {
    aio_context_t context = 0;
    if (syscall(SYS_io_setup, 1, &context) < 0)
        blocked("io_setup");
    syscall(SYS_io_destroy, context);
    allowed("made and removed a context for one request");
}

PROBE(exercise)
