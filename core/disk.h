/* How much shared places have grown. */
#ifndef WARDIAN_DISK_H
#define WARDIAN_DISK_H

#include "plan.h"

#include <stdbool.h>
#include <stdint.h>

void disk_watch(const char *path);
bool disk_anew(void); /* what was written so far does not count */
/* `over` when the guest is gone, and can't be asked any more what it wrote. */
bool disk_exceeded(const struct plan *plan, int proc, bool unclaimed, bool over);
uint64_t used_bytes(int fd);
uint64_t used_files(int fd);

#endif
