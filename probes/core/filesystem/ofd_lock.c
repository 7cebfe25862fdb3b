/* A lock can belong to an open file rather than to a process (fcntl F_OFD_SETLK). */
#define CAPABILITY "filesystem_ofd_lock"
#include "_runner_c.h"

#include <fcntl.h>
#include <unistd.h>

static void exercise(void) {
    struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    const char *path = scratch("locked");
    int first = open(path, O_CREAT | O_EXCL | O_RDWR, 0600), second = open(path, O_RDWR);
    if (first < 0 || second < 0)
        blocked("open %s", path);
    unlink(path);
    if (fcntl(first, F_OFD_SETLK, &whole) < 0)
        blocked("F_OFD_SETLK");
    if (fcntl(second, F_OFD_SETLK, &whole) == 0)
        faulty("two descriptions hold the lock");
    allowed("one open file keeps the other away");
}

PROBE(exercise)
