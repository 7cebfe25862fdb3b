/* Memory can be ordered across threads by the kernel (membarrier), as language runtimes do. */
#define CAPABILITY "kernel_membarrier"
#include "_runner_c.h"

#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

static void exercise(void) {
    if (syscall(SYS_membarrier, MEMBARRIER_CMD_QUERY, 0, 0) < 0)
        blocked("membarrier MEMBARRIER_CMD_QUERY");
    if (syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0) < 0)
        blocked("membarrier MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED");
    allowed("registered for private expedited barriers");
}

PROBE(exercise)
