/* Memory can be hidden from the kernel's own tools (memfd_secret). */
#define CAPABILITY "memory_memfd_secret"
#include "_runner_c.h"

#include <sys/syscall.h>
#include <unistd.h>

#ifndef SYS_memfd_secret
#define SYS_memfd_secret 447
#endif

static void exercise(void) {
    if (syscall(SYS_memfd_secret, 0) < 0)
        blocked("memfd_secret");
    allowed("made a secret file");
}

PROBE(exercise)
