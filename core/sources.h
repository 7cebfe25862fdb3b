/* Shared paths, as detached mounts. */
#ifndef WARDIAN_SOURCES_H
#define WARDIAN_SOURCES_H

#include "plan.h"

#include <stdbool.h>

/* Outside: by the supervisor, with rights that the guest lacks. False if it lacks them, too. */
bool can_open_sources(struct plan *plan);
void pass_sources(struct plan *plan, int ctl);
void take_sources(struct plan *plan, int ctl); /* in the reaper */
/* In the reaper, with its own. */
void open_sources(struct plan *plan, bool outside);

#endif
