/* The system call filter. */
#ifndef WARDIAN_SECCOMP_H
#define WARDIAN_SECCOMP_H

#include "plan.h"

#include <stdbool.h>

int install_filter(const struct plan *plan); /* its listener, or -1 */
bool every_call_is_watched(const struct plan *plan);

#endif
