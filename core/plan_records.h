/* Every record that a plan can have. */
#ifndef WARDIAN_PLAN_RECORDS_H
#define WARDIAN_PLAN_RECORDS_H

#include "plan.h"
#include "records.h"

#include <stdbool.h>
#include <stddef.h>

/* How many of the command's words and variables there are so far. */
struct vectors {
    size_t args, envs;
};

bool take_record(struct plan *plan, const struct record *r, struct vectors *vectors);

#endif
