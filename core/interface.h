/* A network interface besides lo that drops everything sent to it. */
#ifndef WARDIAN_INTERFACE_H
#define WARDIAN_INTERFACE_H

#include "plan.h"

void make_interface(const struct plan *plan);

#endif
