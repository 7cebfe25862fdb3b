/* By how much the writable shares have grown. */
#ifndef WARDIAN_DISK_H
#define WARDIAN_DISK_H

#include "plan.h"

#include <stdbool.h>
#include <stdint.h>

void disk_watch(const char *path);
bool disk_anew(void); /* growth so far is not counted */
/* `over`: the guest has ended, so its write counters can't be read any more. */
bool disk_exceeded(const struct plan *plan, int proc, bool unclaimed, bool over);
uint64_t used_bytes(int fd);
uint64_t used_files(int fd);

#endif
