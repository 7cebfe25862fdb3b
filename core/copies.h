/* Shares that the guest may change without changing the host's files. */
#ifndef WARDIAN_COPIES_H
#define WARDIAN_COPIES_H

#include "plan.h"
#include "root_steps.h"

#include <stdbool.h>

/* Mounts a copy over the share at `name`, which is mounted read-only. False if it can't; the share then stays
 * read-only. */
bool copies_cover(const struct builder *b, const struct step *step, int dir, const char *name);

#endif
