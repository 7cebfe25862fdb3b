/* The guest's root. */
#ifndef WARDIAN_MOUNTS_H
#define WARDIAN_MOUNTS_H

#include "plan.h"

#include <stdbool.h>

/* Outside: by the supervisor, with rights that the guest lacks. False if those are not had. */
bool can_open_sources(struct plan *plan);
void pass_sources(struct plan *plan, int ctl);
void take_sources(struct plan *plan, int ctl);
/* In the reaper, with its own. */
void open_sources(struct plan *plan, bool outside);
void close_sources(struct plan *plan);
void build_root(struct plan *plan, int ctl, int guest, int device); /* /dev/fuse, or -1 */
void help_with_root(struct plan *plan, int reaper);                 /* in the guest-to-be */

#endif
