/* A living sandbox, inside: the reaper that starts one command after another behind the same walls. */
#ifndef WARDIAN_PLACE_H
#define WARDIAN_PLACE_H

#include "plan.h"

#include <sys/types.h>

enum { MAX_COMMANDS = 256 }; /* at once */

/* In the reaper, once the root stands. `builder` is the process that masks /proc meanwhile. */
_Noreturn void place_main(struct plan *plan, int ctl, pid_t builder);

#endif
