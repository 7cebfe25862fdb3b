/* The guest's root. */
#ifndef WARDIAN_ROOT_H
#define WARDIAN_ROOT_H

#include "plan.h"

void build_root(struct plan *plan, int ctl, int guest);

#endif
