/* Paths of the host, mounted where another sandbox's program can reach them. */
#ifndef WARDIAN_STAGED_SHARES_H
#define WARDIAN_STAGED_SHARES_H

#include "plan.h"

void stage_sources(const struct plan *plan); /* in the command-to-be, with the rights of the caller */

#endif
