/* The supervisor's loop. */
#ifndef WARDIAN_SUPERVISE_H
#define WARDIAN_SUPERVISE_H

#include "plan.h"

#include <sys/types.h>

struct supervised {
    pid_t reaper;
    int reaper_pidfd;
    int parent_pidfd;
    int ctl;
};
_Noreturn void supervise(struct plan *plan, struct supervised *run);
void supervise_from_now(pid_t reaper);
void supervise_nothing(void); /* after a failed start: ends its processes and removes its groups */

#endif
