/* A file of the caller's that was never shared can be read, by system calls. */
#define CAPABILITY "filesystem_host_file_read"
#include "_runner_c.h"

#include <fcntl.h>
#include <unistd.h>

static void exercise(void) {
    char first;
    int fd = open(witness("FILE"), O_RDONLY);
    if (fd < 0 || read(fd, &first, 1) < 1)
        blocked("open a file outside the sandbox");
    allowed("read a file outside the sandbox");
}

PROBE(exercise)
