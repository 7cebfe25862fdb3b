/* How much memory a whole run takes, counted exactly. */
#ifndef WARDIAN_MEMORY_H
#define WARDIAN_MEMORY_H

#include "limits.h"

#include <stdint.h>

void memory_start(void);
uint64_t exact_memory(const struct guest_views *views, uint64_t private_files, uint64_t faults);

#endif
