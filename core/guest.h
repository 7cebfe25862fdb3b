/* The guest, from its fork to its exec. */
#ifndef WARDIAN_GUEST_H
#define WARDIAN_GUEST_H

#include "plan.h"

#include <stdbool.h>
#include <stdint.h>

_Noreturn void guest_main(struct plan *plan, int ctl, int reaper);
void hand_streams(const struct plan *plan, int guest, int ctl); /* in the reaper, in the new root */
void take_streams(const struct plan *plan, int reaper);         /* in the guest */
int open_terminal(int ctl, uint64_t command, uint16_t rows, uint16_t columns); /* the guest's end of it */
bool may_limit_later(const struct plan *plan); /* does the filter let limits be set once it is up? */
void announce(int ctl, int listener, int diag);
void announce_by_sibling(const struct plan *plan, int ctl, int diag); /* where every call is watched */
_Noreturn void start_program(const struct plan *plan, int ctl);

#endif
