/* The descriptors through which the supervisor inspects the guest. */
#ifndef WARDIAN_VIEWS_H
#define WARDIAN_VIEWS_H

#include <stddef.h>

void views_attach(const int *fds, size_t count); /* as root.c hands them over */

#endif
