/* Memory in the sockets of the guest's network. */
#ifndef WARDIAN_SOCKETS_H
#define WARDIAN_SOCKETS_H

#include "limits.h"

#include <stdbool.h>
#include <stdint.h>

int sockets_diag(void);
void sockets_attach(int fd);
uint64_t socket_bytes(const struct guest_views *views, bool and_unix);

#endif
