/* The ports that the guest listens on, on its own loopback. */
#ifndef WARDIAN_PORTS_H
#define WARDIAN_PORTS_H

#include <stdbool.h>
#include <sys/types.h>

void ports_begin(void);
void take_port(unsigned port); /* 0: one that the kernel chooses */
bool is_own_port(unsigned port);
bool meets_itself(pid_t task, unsigned port); /* the same, and looks for one that the kernel chose */

#endif
