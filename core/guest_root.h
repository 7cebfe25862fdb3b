/* The guest's root, opened from outside. */
#ifndef WARDIAN_GUEST_ROOT_H
#define WARDIAN_GUEST_ROOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct top;
void guest_root_attach(int fd);
void guest_root_top(const struct top *top); /* something in it that is not to be asked for there */
bool guest_root_known(void);
int guest_root_open(const char *path, int flags, uint64_t resolve); /* O_PATH; RESOLVE_*, openat2(2) */
int guest_root_enter(const char *name, size_t len);                 /* of something in the root itself */
const char *guest_root_link(const char *name, size_t len); /* where that is known to lead, or NULL */

#endif
