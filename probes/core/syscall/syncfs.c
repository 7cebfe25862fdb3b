/* syncfs: the data of one file system, written out. */
#define CAPABILITY "syscall_syncfs"
#include "_runner_c.h"

#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

CHECK(keeps_what_was_written) {
    char bytes[8];
    int fd = (int)works(memfd_create("file", 0), "memfd_create"); /* others' files may take long */
    works(write(fd, "glass", 5), "write");
    works(syscall(SYS_syncfs, fd), "syncfs");
    want(pread(fd, bytes, 8, 0) == 5 && memcmp(bytes, "glass", 5) == 0, "other bytes");
}

CHECK(refuses_a_closed_descriptor) {
    refuses(syscall(SYS_syncfs, -1), EBADF, "syncfs of -1");
}

CHECKS
