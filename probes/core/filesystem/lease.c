/* A lease on a file notifies its holder when another process opens it (fcntl F_SETLEASE). */
#define CAPABILITY "filesystem_lease"
#include "_runner_c.h"

#include <fcntl.h>
#include <unistd.h>

static void exercise(void) {
    const char *path = scratch("leased");
    int fd = open(path, O_CREAT | O_EXCL | O_RDWR, 0600);
    if (fd < 0)
        blocked("open %s", path);
    int result = fcntl(fd, F_SETLEASE, F_WRLCK), number = errno;
    unlink(path);
    if (result < 0)
        blocked_with(number, "F_SETLEASE");
    allowed("took a write lease");
}

PROBE(exercise)
