/* The records that only a plan for a confined guest has. */
#ifndef WARDIAN_CONFINED_RECORDS_H
#define WARDIAN_CONFINED_RECORDS_H

#include "plan.h"
#include "records.h"

#include <stdbool.h>

bool set_acted(struct plan *plan, const struct record *r);
bool set_shm(struct plan *plan, const struct record *r);

#endif
