/* msync: changes of a mapped file that are written out. */
#define CAPABILITY "syscall_msync"
#include "_runner_c.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define PAGE ((size_t)sysconf(_SC_PAGESIZE))

static int fd;

/* Two pages of a file that has no name any more. */
static char *pages(void) {
    const char *path = scratch("msync");
    fd = (int)works(open(path, O_CREAT | O_RDWR | O_EXCL, 0600), "open");
    unlink(path);
    works(ftruncate(fd, 2 * (off_t)PAGE), "ftruncate");
    char *at = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (at == MAP_FAILED)
        blocked("mmap");
    return at;
}

static void wrote(const char *text) {
    char bytes[8] = {0};
    want(pread(fd, bytes, 5, 0) == 5 && memcmp(bytes, text, 5) == 0, "not in the file");
}

CHECK(writes_out_and_waits) {
    char *at = pages();
    memcpy(at, "glass", 5);
    works(syscall(SYS_msync, at, PAGE, MS_SYNC), "msync");
    wrote("glass");
}

CHECK(writes_out_later) {
    char *at = pages();
    memcpy(at, "glass", 5);
    works(syscall(SYS_msync, at, 2 * PAGE, MS_ASYNC), "msync");
    wrote("glass");
}

CHECK(looks_at_the_file_again) {
    char *at = pages();
    works(pwrite(fd, "other", 5, 0), "pwrite");
    works(syscall(SYS_msync, at, PAGE, MS_SYNC | MS_INVALIDATE), "msync");
    want(memcmp(at, "other", 5) == 0, "other bytes");
}

CHECK(does_nothing_to_nothing) {
    works(syscall(SYS_msync, pages(), 0, MS_SYNC), "msync of 0 bytes");
}

CHECK(refuses_both_now_and_later) {
    refuses(syscall(SYS_msync, pages(), PAGE, MS_SYNC | MS_ASYNC), EINVAL, "both");
}

CHECK(refuses_unknown_flags) {
    refuses(syscall(SYS_msync, pages(), PAGE, 64), EINVAL, "flag 64");
}

CHECK(refuses_an_address_inside_a_page) {
    refuses(syscall(SYS_msync, pages() + 1, PAGE, MS_SYNC), EINVAL, "from byte 1");
}

CHECK(refuses_memory_that_is_not_there) {
    char *at = pages();
    works(munmap(at + PAGE, PAGE), "munmap");
    refuses(syscall(SYS_msync, at, 2 * PAGE, MS_SYNC), ENOMEM, "over a hole");
}

CHECK(refuses_to_forget_what_is_locked) {
    char *at = pages();
    works(mlock(at, PAGE), "mlock");
    refuses(syscall(SYS_msync, at, PAGE, MS_INVALIDATE), EBUSY, "of locked memory");
}

CHECKS
