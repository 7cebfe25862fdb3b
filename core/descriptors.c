/* Closing what was inherited; the caller's end of what was not. */
#define _GNU_SOURCE
#include "fortify.h"
#include "descriptors.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef SYS_close_range
#define SYS_close_range 436
#endif

static void close_between(unsigned first, unsigned last) {
    if (first > last || syscall(SYS_close_range, first, last, 0) == 0)
        return;
    /* Before Linux 5.9. The limit may have been lowered after a descriptor was opened, so look above it, too. */
    struct rlimit files = {.rlim_cur = 0};
    getrlimit(RLIMIT_NOFILE, &files);
    rlim_t end = files.rlim_max < 65536 ? 65536 : files.rlim_max;
    if (end > 1 << 20)
        end = 1 << 20;
    for (rlim_t fd = first; fd < end && fd <= last; fd++)
        close((int)fd);
}

bool control_is_closed(void) {
    struct pollfd control = {.fd = FD_CONTROL};
    return poll(&control, 1, 0) > 0 && (control.revents & (POLLHUP | POLLERR));
}

void close_all_but(int last_kept) { close_between((unsigned)last_kept + 1, ~0U); }

/* Those that are kept may be in any order, and -1 stands for none. */
void close_others(int last_kept, const int *kept, size_t count) {
    for (int next; last_kept >= -1; last_kept = next) {
        next = -2;
        for (size_t i = 0; i < count; i++)
            if (kept[i] > last_kept && (next < 0 || kept[i] < next))
                next = kept[i];
        if (next != last_kept + 1)
            close_between((unsigned)(last_kept + 1), next < 0 ? ~0U : (unsigned)next - 1);
    }
}
