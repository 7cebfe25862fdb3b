/* Listing directories, and reading small files below one. */
#ifndef WARDIAN_DIRECTORY_H
#define WARDIAN_DIRECTORY_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

typedef void visit(const char *name, void *context);
void each_entry(int dir, visit *each, void *context);  /* but . and .. */
void each_number(int dir, visit *each, void *context); /* of those, only names that are numbers */
void each_number_until(int dir, visit *each, void *context, int64_t until_us); /* the same, until the deadline */
ssize_t read_below(int dir, const char *entry, const char *name, char *text, size_t size);

#endif
