/* The guest, until it becomes its program. */
#ifndef WARDIAN_GUEST_H
#define WARDIAN_GUEST_H

#include "plan.h"

_Noreturn void guest_main(struct plan *plan, int ctl, int reaper);
void take_streams(const struct plan *plan, int reaper); /* from hand_streams */
void announce(int ctl, int listener, int diag);
void hand_streams(const struct plan *plan, int guest, int ctl); /* in the reaper, in the new root */

#endif
