/* Calls that are allowed while the sum of one argument fits a budget. */
#ifndef WARDIAN_QUOTAS_H
#define WARDIAN_QUOTAS_H

#include "plan.h"

#include <stdbool.h>
#include <stdint.h>

bool quotas_allow(const struct plan *plan, int number, const uint64_t *args);
uint64_t quotas_disk_spent(void); /* bytes of the disk limit */

#endif
