/* New namespaces. */
#ifndef WARDIAN_NAMESPACES_H
#define WARDIAN_NAMESPACES_H

#include "plan.h"

#include <sys/types.h>

pid_t clone_into_namespaces(const struct plan *plan, int *pidfd);

#endif
