/* Pid 1 inside. */
#ifndef WARDIAN_REAPER_H
#define WARDIAN_REAPER_H

#include "plan.h"

_Noreturn void reaper_main(struct plan *plan, int ctl);

#endif
