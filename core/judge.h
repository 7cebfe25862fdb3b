/* Records which wall a call will run into. */
#ifndef WARDIAN_JUDGE_H
#define WARDIAN_JUDGE_H

#include "plan.h"
#include "subject.h"

void judge(const struct plan *plan, struct subject *about);
void judge_limits(const struct plan *plan, const struct subject *about);

#endif
