/* memfd_create: files in memory, with names, flags and seals. */
#define CAPABILITY "syscall_memfd_create"
#include "_runner_c.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef MFD_NOEXEC_SEAL
#define MFD_NOEXEC_SEAL 8u
#endif

static int make(unsigned flags) {
    return (int)works(syscall(SYS_memfd_create, "glass", flags), "memfd_create");
}

CHECK(makes_a_file_that_keeps_bytes) {
    char bytes[5];
    int fd = make(0);
    works(write(fd, "glass", 5), "write");
    want(pread(fd, bytes, 5, 0) == 5 && memcmp(bytes, "glass", 5) == 0, "other bytes");
    works(ftruncate(fd, 2), "ftruncate");
    want(lseek(fd, 0, SEEK_END) == 2, "another size");
}

CHECK(makes_a_file_that_has_no_place) {
    struct stat info;
    works(fstat(make(0), &info), "fstat");
    want(S_ISREG(info.st_mode) && info.st_nlink == 0 && info.st_size == 0, "it has one");
}

CHECK(gives_it_a_name_for_people) {
    char link[64], name[64] = "";
    snprintf(link, sizeof link, "/proc/self/fd/%d", make(0));
    works(readlink(link, name, sizeof name - 1), "readlink");
    want(strncmp(name, "/memfd:glass", 12) == 0, "%s", name);
}

CHECK(makes_another_file_each_time) {
    struct stat one, other;
    works(fstat(make(0), &one), "fstat");
    works(fstat(make(0), &other), "fstat");
    want(one.st_ino != other.st_ino, "the same file");
}

CHECK(makes_memory_that_can_be_shared) {
    char byte;
    int fd = make(0);
    works(ftruncate(fd, 4096), "ftruncate");
    char *at = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    want(at != MAP_FAILED, "mmap failed");
    *at = 'x';
    want(pread(fd, &byte, 1, 0) == 1 && byte == 'x', "not the same memory");
}

CHECK(closes_on_exec_if_asked) {
    want(fcntl(make(0), F_GETFD) == 0 && fcntl(make(MFD_CLOEXEC), F_GETFD) == FD_CLOEXEC, "wrong");
}

CHECK(can_be_sealed_if_asked) {
    int fd = make(MFD_ALLOW_SEALING);
    want(works(fcntl(fd, F_GET_SEALS), "F_GET_SEALS") == 0, "sealed already");
    works(fcntl(fd, F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_GROW | F_SEAL_SHRINK), "F_ADD_SEALS");
    refuses(write(fd, "x", 1), EPERM, "write");
    refuses(ftruncate(fd, 4096), EPERM, "ftruncate");
}

CHECK(can_be_sealed_for_good) {
    int fd = make(MFD_ALLOW_SEALING);
    works(fcntl(fd, F_ADD_SEALS, F_SEAL_SEAL), "F_ADD_SEALS");
    refuses(fcntl(fd, F_ADD_SEALS, F_SEAL_WRITE), EPERM, "another seal");
}

CHECK(can_not_be_sealed_unasked) {
    int fd = make(0);
    want(fcntl(fd, F_GET_SEALS) & F_SEAL_SEAL, "it can");
    refuses(fcntl(fd, F_ADD_SEALS, F_SEAL_WRITE), EPERM, "F_ADD_SEALS");
}

CHECK(can_not_be_written_sealed_while_mapped) {
    int fd = make(MFD_ALLOW_SEALING);
    works(ftruncate(fd, 4096), "ftruncate");
    void *at = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    want(at != MAP_FAILED, "mmap failed");
    refuses(fcntl(fd, F_ADD_SEALS, F_SEAL_WRITE), EBUSY, "F_ADD_SEALS");
}

CHECK(is_not_to_be_run_if_asked) {
    struct stat info;
    int fd = (int)syscall(SYS_memfd_create, "glass", MFD_NOEXEC_SEAL);
    if (fd < 0 && errno == EINVAL)
        unavailable("before Linux 6.3 there is no such flag");
    works(fd, "memfd_create");
    works(fstat(fd, &info), "fstat");
    want((info.st_mode & 0111) == 0, "it may be run");
    refuses(fchmod(fd, 0700), EPERM, "fchmod");
}

CHECK(refuses_unknown_flags) {
    refuses(syscall(SYS_memfd_create, "glass", 0x8000), EINVAL, "flag 0x8000");
}

CHECK(refuses_a_long_name) {
    char name[251];
    memset(name, 'x', sizeof name - 1);
    name[250] = 0;
    refuses(syscall(SYS_memfd_create, name, 0), EINVAL, "a name of 250");
    name[249] = 0;
    works(syscall(SYS_memfd_create, name, 0), "memfd_create with a name of 249");
}

CHECK(refuses_a_bad_address) {
    refuses(syscall(SYS_memfd_create, (void *)8, 0), EFAULT, "a name at 8");
}

CHECK(refuses_more_than_may_be_open) {
    struct rlimit few = {0, 0};
    works(setrlimit(RLIMIT_NOFILE, &few), "setrlimit");
    refuses(syscall(SYS_memfd_create, "glass", 0), EMFILE, "where none may be open");
}

CHECKS
