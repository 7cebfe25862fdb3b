/* Mounts can be listed with where they come from on the host (listmount, statmount). */
#define CAPABILITY "kernel_list_mounts"
#include "_runner_c.h"

#include <sys/syscall.h>
#include <unistd.h>

#ifndef SYS_listmount
#define SYS_listmount 458
#endif

static void exercise(void) {
    unsigned long long request[] = {24, ~0ULL, 0}, found[64]; /* size, LSMT_ROOT, from the start */
    if (syscall(SYS_listmount, request, found, 64, 0) < 0)
        blocked("listmount");
    allowed("listed the mounts");
}

PROBE(exercise)
