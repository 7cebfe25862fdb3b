/* A network by name: what its gateway, outside, has in the guest's network namespace. */
#ifndef WARDIAN_NAMES_H
#define WARDIAN_NAMES_H

#include "plan.h"

#include <stdbool.h>

/* In the guest-to-be, once its loopback is up: routes, the resolver's sockets, and those that the gateway
 * wants before the guest starts. */
void names_begin(const struct plan *plan);
/* In the reaper, while it waits: makes sockets that the gateway requests. False: the gateway has closed. */
bool names_serve(int gateway);

#endif
