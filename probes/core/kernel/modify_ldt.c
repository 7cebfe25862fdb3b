/* The processor's segment tables can be edited (modify_ldt). */
#define CAPABILITY "kernel_modify_ldt"
#include "_runner_c.h"

#include <sys/syscall.h>
#include <unistd.h>

static void exercise(void) {
#ifdef SYS_modify_ldt
    char table[16];
    if ((int)syscall(SYS_modify_ldt, 0, table, sizeof table) < 0)
        blocked("modify_ldt");
    allowed("read its segment table");
#else
    unavailable("this architecture has no segment tables");
#endif
}

PROBE(exercise)
