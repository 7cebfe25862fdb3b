/* A file can be made, read back and removed in the temporary directory, by system calls. */
#define CAPABILITY "filesystem_tmp_write"
#include "_runner_c.h"

#include <fcntl.h>
#include <unistd.h>

static void exercise(void) {
    char back[4] = "";
    const char *path = scratch("tmp-write");
    int fd = open(path, O_CREAT | O_EXCL | O_RDWR, 0600);
    if (fd < 0)
        blocked("open %s", path);
    if (write(fd, "data", 4) != 4 || pread(fd, back, 4, 0) != 4 || unlink(path) < 0)
        blocked("write, read, unlink %s", path);
    allowed("wrote and removed %s", path);
}

PROBE(exercise)
