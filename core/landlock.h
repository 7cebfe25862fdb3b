/* The second wall around files. */
#ifndef WARDIAN_LANDLOCK_H
#define WARDIAN_LANDLOCK_H

#include "plan.h"

void restrict_with_landlock(const struct plan *plan);
void landlock_scope(uint64_t scoped); /* a domain that restricts nothing else */

#endif
