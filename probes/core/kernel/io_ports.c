/* The machine's ports can be reached directly (ioperm). */
#define CAPABILITY "kernel_io_ports"
#include "_runner_c.h"

#include <sys/syscall.h>
#include <unistd.h>

static void exercise(void) {
#ifdef SYS_ioperm
    if (syscall(SYS_ioperm, 0x80, 1, 1) < 0) /* the port that nothing but old diagnostics use */
        blocked("ioperm");
    allowed("was given a port, and left it alone");
#else
    unavailable("this architecture has no ports");
#endif
}

PROBE(exercise)
