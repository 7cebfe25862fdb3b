/* Who the guest is, inside and outside. */
#ifndef WARDIAN_IDENTITY_H
#define WARDIAN_IDENTITY_H

#include "plan.h"

#include <stdbool.h>
#include <sys/types.h>

void choose_identity(const struct plan *plan);
void map_identity(const struct plan *plan, pid_t child);
void take_identity(const struct plan *plan);
bool give_to_guest(const char *path);
int idmap_namespace(uid_t owner, gid_t group);
bool caller_is_root(void);
uid_t guest_host_uid(void);

#endif
