/* The path that a call of the guest's means. */
#ifndef WARDIAN_PATHS_H
#define WARDIAN_PATHS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <linux/limits.h>

/* To `path`, of PATH_MAX bytes; false if it can't be told. */
bool path_of(pid_t task, int dir, uint64_t address, char *path);
bool path_from(pid_t task, int dir, const char *name, size_t len, char *path);

/* Where the path that was read last starts, if that is deep and this one leads through there: a
 * directory, and what is left of it from there on. Otherwise -1. */
int path_start(const char *path, const char **below);

#endif
