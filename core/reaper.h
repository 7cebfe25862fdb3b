/* Pid 1 inside. */
#ifndef WARDIAN_REAPER_H
#define WARDIAN_REAPER_H

#include "plan.h"

#include <stdint.h>

_Noreturn void reaper_main(struct plan *plan, int ctl);
uint64_t reaper_last_pid(int loadavg); /* the last that was handed out in its namespace */
int reaper_open_deaths(void);          /* readable when a child has ended */

#endif
