/* The guest's root, opened from outside. */
#ifndef WARDIAN_ROOT_VIEW_H
#define WARDIAN_ROOT_VIEW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct top;
void root_view_attach(int fd);
void root_view_top(const struct top *top); /* an entry that must not be looked up in the root */
bool root_view_known(void);
int root_view_open(const char *path, int flags, uint64_t resolve); /* O_PATH; RESOLVE_*, openat2(2) */
int root_view_enter(const char *name, size_t len);                 /* of an entry of the root */
const char *root_view_link(const char *name, size_t len); /* its target, if known, or NULL */

#endif
