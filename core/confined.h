/* The walls of a guest without namespaces: who it is, what it may reach, what it may call. */
#ifndef WARDIAN_CONFINED_H
#define WARDIAN_CONFINED_H

#include "plan.h"


void confined_check(const struct plan *plan); /* in the supervisor, before anything is started */
void confined_reaper(const struct plan *plan); /* the domain around the guest's */
void confined_identity(const struct plan *plan);
void confined_start(const struct plan *plan, int ctl); /* Landlock and filter, announced; limits that come last */
void confined_attach(const struct plan *plan, int proc); /* what the supervisor looks through */

#endif
