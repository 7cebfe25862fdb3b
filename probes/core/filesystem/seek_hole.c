/* The holes of a file can be found (lseek with SEEK_DATA), as tar and cp do. */
#define CAPABILITY "filesystem_seek_hole"
#include "_runner_c.h"

#include <fcntl.h>
#include <unistd.h>

static void exercise(void) {
    const char *path = scratch("sparse");
    int fd = open(path, O_CREAT | O_EXCL | O_RDWR, 0600);
    if (fd < 0)
        blocked("open %s", path);
    unlink(path);
    if (pwrite(fd, "x", 1, 1 << 20) != 1)
        blocked("pwrite");
    off_t data = lseek(fd, 0, SEEK_DATA);
    if (data < 0)
        blocked("lseek SEEK_DATA");
    if (data == 0)
        blocked_with(0, "the hole is reported as data");
    allowed("found where the data begins");
}

PROBE(exercise)
