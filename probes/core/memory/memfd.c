/* A file can live in memory only, and be sealed against change (memfd_create). */
#define CAPABILITY "memory_memfd"
#include "_runner_c.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

static void exercise(void) {
    int fd = memfd_create("probe", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (fd < 0)
        blocked("memfd_create");
    if (write(fd, "x", 1) != 1 || fcntl(fd, F_ADD_SEALS, F_SEAL_WRITE) < 0)
        blocked("F_ADD_SEALS");
    if (write(fd, "y", 1) >= 0)
        faulty("a sealed file was written");
    allowed("made and sealed a file in memory");
}

PROBE(exercise)
