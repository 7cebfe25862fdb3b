/* memfd_create: a file that lives in memory. */
#define CAPABILITY "syscall_memfd_create"
#include "_runner_c.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define NOEXEC_SEAL 8 /* Linux 6.3 */

CHECK(makes_a_file_that_holds_bytes) {
    char bytes[8];
    struct stat facts;
    int fd = (int)works(syscall(SYS_memfd_create, "pane", 0), "memfd_create");
    works(write(fd, "glass", 5), "write");
    want(pread(fd, bytes, 8, 0) == 5 && memcmp(bytes, "glass", 5) == 0, "other bytes");
    works(fstat(fd, &facts), "fstat");
    want(S_ISREG(facts.st_mode) && facts.st_size == 5 && facts.st_nlink == 0, "other facts");
}

CHECK(can_be_mapped_and_shared) {
    char byte = 0;
    int fd = (int)works(syscall(SYS_memfd_create, "pane", 0), "memfd_create");
    works(ftruncate(fd, 4096), "ftruncate");
    char *memory = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    want(memory != MAP_FAILED, "it can't be mapped");
    memory[7] = 'g';
    want(pread(fd, &byte, 1, 7) == 1 && byte == 'g', "another byte");
}

CHECK(marks_for_closing_if_asked) {
    int fd = (int)works(syscall(SYS_memfd_create, "pane", MFD_CLOEXEC), "memfd_create");
    want(fcntl(fd, F_GETFD) == FD_CLOEXEC, "not marked");
}

CHECK(can_be_sealed_if_asked) {
    int fd = (int)works(syscall(SYS_memfd_create, "pane", MFD_ALLOW_SEALING), "memfd_create");
    works(fcntl(fd, F_ADD_SEALS, F_SEAL_GROW | F_SEAL_SEAL), "fcntl F_ADD_SEALS");
    refuses(ftruncate(fd, 4096), EPERM, "ftruncate of what must not grow");
    refuses(fcntl(fd, F_ADD_SEALS, F_SEAL_WRITE), EPERM, "one more seal");
}

CHECK(can_not_be_sealed_unless_asked) {
    int fd = (int)works(syscall(SYS_memfd_create, "pane", 0), "memfd_create");
    want(fcntl(fd, F_GET_SEALS) == F_SEAL_SEAL, "other seals");
}

CHECK(makes_a_file_that_is_no_program_if_asked) {
    struct stat facts;
    int fd = (int)works_if_offered(syscall(SYS_memfd_create, "pane", NOEXEC_SEAL), EINVAL, "it");
    works(fstat(fd, &facts), "fstat");
    want(!(facts.st_mode & 0111), "mode %o", facts.st_mode);
    refuses(fchmod(fd, 0700), EPERM, "fchmod to a program");
}

CHECK(refuses_unknown_flags) {
    refuses(syscall(SYS_memfd_create, "pane", 1 << 15), EINVAL, "memfd_create with 1 << 15");
}

CHECK(refuses_a_name_too_long) {
    char name[300];
    memset(name, 'n', sizeof name);
    name[250] = 0;
    refuses(syscall(SYS_memfd_create, name, 0), EINVAL, "memfd_create with 250 bytes");
}

CHECK(refuses_a_bad_address) {
    refuses(syscall(SYS_memfd_create, (void *)8, 0), EFAULT, "memfd_create with the name at 8");
}

CHECKS
