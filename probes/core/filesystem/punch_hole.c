/* Part of a file can be given back (fallocate with FALLOC_FL_PUNCH_HOLE). */
#define CAPABILITY "filesystem_punch_hole"
#include "_runner_c.h"

#include <fcntl.h>
#include <unistd.h>

static void exercise(void) {
    char data[8192] = {1}, back;
    const char *path = scratch("holed");
    int fd = open(path, O_CREAT | O_EXCL | O_RDWR, 0600);
    if (fd < 0)
        blocked("open %s", path);
    unlink(path);
    if (write(fd, data, sizeof data) != sizeof data)
        blocked("write");
    if (fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, 4096) < 0)
        blocked("fallocate FALLOC_FL_PUNCH_HOLE");
    if (pread(fd, &back, 1, 0) != 1 || back != 0)
        faulty("what was punched out is still there");
    allowed("punched a hole");
}

PROBE(exercise)
