/* Drops every capability for good, and leaves the caller's session keyring. */
#ifndef WARDIAN_CAPABILITIES_H
#define WARDIAN_CAPABILITIES_H

#include "plan.h"

void limit_capabilities(const struct plan *plan);
void drop_capabilities(const struct plan *plan);
void forget_session_keyring(const struct plan *plan);

#endif
