/* Shares that the guest may change without changing what is shared. */
#ifndef WARDIAN_COPIES_H
#define WARDIAN_COPIES_H

#include "plan.h"
#include "root_steps.h"

#include <stdbool.h>

/* Covers the share at `name`, mounted there read-only. Where that can't be, it stays as it is: false. */
bool copies_cover(const struct builder *b, const struct step *step, int dir, const char *name);

#endif
