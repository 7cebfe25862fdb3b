/* memfd_secret: memory that not even the kernel looks into. */
#define CAPABILITY "syscall_memfd_secret"
#include "_runner_c.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef SYS_memfd_secret
#define SYS_memfd_secret 447
#endif

CHECK(makes_memory_that_holds_bytes) {
    int fd = (int)works(syscall(SYS_memfd_secret, 0), "memfd_secret");
    works(ftruncate(fd, 4096), "ftruncate");
    char *memory = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    want(memory != MAP_FAILED, "it can't be mapped");
    strcpy(memory, "glass");
    want(strcmp(memory, "glass") == 0, "other bytes");
}

CHECK(can_not_be_read_as_a_file) {
    char byte;
    int fd = (int)works(syscall(SYS_memfd_secret, 0), "memfd_secret");
    works(ftruncate(fd, 4096), "ftruncate");
    refuses(read(fd, &byte, 1), EINVAL, "read of it");
}

CHECK(marks_for_closing_if_asked) {
    int fd = (int)works(syscall(SYS_memfd_secret, O_CLOEXEC), "memfd_secret");
    want(fcntl(fd, F_GETFD) == FD_CLOEXEC, "not marked");
}

CHECK(refuses_unknown_flags) {
    refuses(syscall(SYS_memfd_secret, 1 << 30), EINVAL, "memfd_secret with 1 << 30");
}

CHECKS
