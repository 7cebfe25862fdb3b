/* Per-processor data can be kept without locks (rseq), as allocators do. */
#define CAPABILITY "kernel_restartable_sequences"
#include "_runner_c.h"

#include <sys/syscall.h>
#include <unistd.h>

static void exercise(void) {
    /* A length that no kernel takes: the call's presence shows in what it complains of. */
    if (syscall(SYS_rseq, (void *)0, 1, 0, 0) == 0 || errno == EINVAL || errno == EBUSY)
        allowed("rseq is there");
    blocked("rseq");
}

PROBE(exercise)
