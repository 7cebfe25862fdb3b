/* What comes of a lookup in the guest's root. */
#ifndef WARDIAN_LOOKUPS_H
#define WARDIAN_LOOKUPS_H

#include "plan.h"

#include <sys/types.h>

void lookup_judge(const struct plan *plan, pid_t inside); /* the call that this task is in */

#endif
