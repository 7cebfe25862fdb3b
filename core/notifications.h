/* Calls that reach the supervisor as notifications. */
#ifndef WARDIAN_NOTIFICATIONS_H
#define WARDIAN_NOTIFICATIONS_H

#include "plan.h"

void notifications_begin(int listener);
void notifications_answer(const struct plan *plan, int listener);

#endif
