/* A network namespace of the guest's own. */
#ifndef WARDIAN_NETWORK_H
#define WARDIAN_NETWORK_H

#include "plan.h"

int own_network(const struct plan *plan, int *diag);
void join_network(const struct plan *plan, int namespace);

#endif
