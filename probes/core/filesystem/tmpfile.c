/* A file can be made without a name, and given one when it is whole (O_TMPFILE). */
#define CAPABILITY "filesystem_tmpfile"
#include "_runner_c.h"

#include <fcntl.h>
#include <libgen.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static void exercise(void) {
    char path[512], copy[512], own[64];
    strcpy(path, scratch("named"));
    strcpy(copy, path);
    int fd = open(dirname(copy), O_TMPFILE | O_WRONLY, 0600);
    if (fd < 0)
        blocked("open O_TMPFILE");
    snprintf(own, sizeof own, "/proc/self/fd/%d", fd);
    if (linkat(AT_FDCWD, own, AT_FDCWD, path, AT_SYMLINK_FOLLOW) < 0)
        blocked("linkat");
    unlink(path);
    allowed("made a file without a name, then named it");
}

PROBE(exercise)
