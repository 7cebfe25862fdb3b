/* The path that a call of the guest's refers to. */
#ifndef WARDIAN_PATHS_H
#define WARDIAN_PATHS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <linux/limits.h>

/* Writes to `path`, of PATH_MAX bytes; false if it is unknown. */
bool path_of(pid_t task, int dir, uint64_t address, char *path);
bool path_from(pid_t task, int dir, const char *name, size_t len, char *path);

/* Where the last path that was read starts, if that is deep and the path leads through it: a directory, and
 * the rest of the path from there on. Otherwise -1. */
int path_start(const char *path, const char **below);

#endif
