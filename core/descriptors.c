/* Closing what was inherited. */
#define _GNU_SOURCE
#include "fortify.h"
#include "descriptors.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef SYS_close_range
#define SYS_close_range 436
#endif

void close_all_but(int last_kept) {
    if (syscall(SYS_close_range, (unsigned)last_kept + 1, ~0U, 0) == 0)
        return;
    /* Before Linux 5.9. A descriptor can lie above a limit that was lowered later, so look higher. */
    struct rlimit files = {.rlim_cur = 0};
    getrlimit(RLIMIT_NOFILE, &files);
    rlim_t end = files.rlim_max < 65536 ? 65536 : files.rlim_max;
    if (end > 1 << 20)
        end = 1 << 20;
    for (rlim_t fd = (rlim_t)last_kept + 1; fd < end; fd++)
        close((int)fd);
}
