/* Calls that reach the supervisor as notifications. */
#ifndef WARDIAN_NOTIFICATIONS_H
#define WARDIAN_NOTIFICATIONS_H

#include "plan.h"

void notifications_begin(int listener); /* or -1: there are none */
void notifications_connected(void); /* or not: for a call that waits, connecting.h */
int notifications_fd(void);             /* to be polled, or -1 */

/* What poll(2) says of it; and what else must not wait until a run of calls is over. */
enum { REAPER, LOOKUPS, URGENT };
void notifications_answer(const struct plan *plan, short events, const int urgent[URGENT]);

#endif
