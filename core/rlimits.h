/* The limits that the kernel enforces for each process. */
#ifndef WARDIAN_RLIMITS_H
#define WARDIAN_RLIMITS_H

#include "plan.h"

void set_rlimits(const struct plan *plan); /* all but that of open files, */
void limit_open_files(const struct plan *plan);
void raise_open_files(void);

#endif
