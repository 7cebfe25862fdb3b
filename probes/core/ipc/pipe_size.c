/* A pipe can be made to hold 1 MiB (F_SETPIPE_SZ). */
#define CAPABILITY "ipc_pipe_size"
#include "_runner_c.h"

#include <fcntl.h>
#include <unistd.h>

static void exercise(void) {
    int ends[2];
    if (pipe(ends) < 0)
        blocked("pipe");
    if (fcntl(ends[0], F_SETPIPE_SZ, 1 << 20) < 0)
        blocked("F_SETPIPE_SZ");
    allowed("a pipe holds 1 MiB");
}

PROBE(exercise)
