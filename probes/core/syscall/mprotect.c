/* mprotect: memory that may be read, written, run, or not. */
#define CAPABILITY "syscall_mprotect"
#include "_runner_c.h"

#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define PAGE ((size_t)sysconf(_SC_PAGESIZE))

static char *pages(size_t count, int prot) {
    char *at = mmap(NULL, count * PAGE, prot, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED)
        blocked("mmap");
    return at;
}

static int ended_by(int status) {
    return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

static int killed_by_reading(char *at) {
    int status;
    pid_t child = (pid_t)works(fork(), "fork");
    if (child == 0)
        _exit(*(volatile char *)at ? 1 : 0);
    waitpid(child, &status, 0);
    return ended_by(status);
}

static int killed_by_writing(char *at) {
    int status;
    pid_t child = (pid_t)works(fork(), "fork");
    if (child == 0) {
        *(volatile char *)at = 1;
        _exit(0);
    }
    waitpid(child, &status, 0);
    return ended_by(status);
}

CHECK(takes_the_right_to_write) {
    char *at = pages(1, PROT_READ | PROT_WRITE);
    works(syscall(SYS_mprotect, at, PAGE, PROT_READ), "mprotect");
    want(killed_by_writing(at) == SIGSEGV, "it can be written");
    want(killed_by_reading(at) == 0, "it can't be read");
}

CHECK(takes_every_right) {
    char *at = pages(1, PROT_READ | PROT_WRITE);
    works(syscall(SYS_mprotect, at, PAGE, PROT_NONE), "mprotect");
    want(killed_by_reading(at) == SIGSEGV, "it can be read");
}

CHECK(gives_rights_and_keeps_what_was_there) {
    char *at = pages(1, PROT_READ | PROT_WRITE);
    *at = 7;
    works(syscall(SYS_mprotect, at, PAGE, PROT_NONE), "mprotect");
    works(syscall(SYS_mprotect, at, PAGE, PROT_READ | PROT_WRITE), "mprotect");
    want(*at == 7 && killed_by_writing(at) == 0, "it is not as before");
}

CHECK(holds_for_the_kernel_too) {
    int ends[2];
    char *at = pages(1, PROT_READ | PROT_WRITE);
    works(pipe(ends), "pipe");
    works(write(ends[1], "x", 1), "write");
    works(syscall(SYS_mprotect, at, PAGE, PROT_READ), "mprotect");
    refuses(read(ends[0], at, 1), EFAULT, "read into it");
}

CHECK(changes_a_part) {
    char *at = pages(3, PROT_READ | PROT_WRITE);
    works(syscall(SYS_mprotect, at + PAGE, PAGE, PROT_READ), "mprotect");
    want(killed_by_writing(at) == 0 && killed_by_writing(at + PAGE) == SIGSEGV, "not that part");
    want(killed_by_writing(at + 2 * PAGE) == 0, "more than that part");
}

CHECK(changes_whole_pages) {
    char *at = pages(2, PROT_READ | PROT_WRITE);
    works(syscall(SYS_mprotect, at, 1, PROT_READ), "mprotect of a byte");
    want(killed_by_writing(at + PAGE - 1) == SIGSEGV, "not the whole page");
    want(killed_by_writing(at + PAGE) == 0, "more than the page");
}

CHECK(makes_memory_runnable) {
#ifdef __x86_64__
    static const unsigned char code[] = {0xb8, 42, 0, 0, 0, 0xc3}; /* mov $42, %eax; ret */
#else
    static const unsigned char code[] = {0x40, 5, 0x80, 0x52, 0xc0, 3, 0x5f, 0xd6}; /* mov w0, 42 */
#endif
    char *at = pages(1, PROT_READ | PROT_WRITE);
    memcpy(at, code, sizeof code);
    works(syscall(SYS_mprotect, at, PAGE, PROT_READ | PROT_EXEC), "mprotect");
    __builtin___clear_cache(at, at + sizeof code);
    want(((int (*)(void))(uintptr_t)at)() == 42, "other code");
}

CHECK(does_nothing_to_nothing) {
    works(syscall(SYS_mprotect, pages(1, PROT_READ), 0, PROT_NONE), "mprotect of 0 bytes");
}

CHECK(refuses_an_address_inside_a_page) {
    refuses(syscall(SYS_mprotect, pages(1, PROT_READ) + 1, 1, PROT_READ), EINVAL, "from byte 1");
}

CHECK(refuses_memory_that_is_not_there) {
    char *at = pages(3, PROT_READ);
    works(munmap(at + PAGE, PAGE), "munmap");
    refuses(syscall(SYS_mprotect, at, 3 * PAGE, PROT_READ), ENOMEM, "over a hole");
}

CHECK(refuses_unknown_rights) {
    refuses(syscall(SYS_mprotect, pages(1, PROT_READ), PAGE, 0x40000000), EINVAL, "0x40000000");
}

CHECK(refuses_to_write_what_was_opened_for_reading) {
    int fd = (int)works(open("/proc/self/exe", O_RDONLY), "open");
    void *at = mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0);
    want(at != MAP_FAILED, "mmap failed");
    refuses(syscall(SYS_mprotect, at, 4096, PROT_READ | PROT_WRITE), EACCES, "of a shared file");
}

CHECKS
