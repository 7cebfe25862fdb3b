/* mmap: fresh memory and files, private and shared, at addresses asked for, and what can't be. */
#define CAPABILITY "syscall_mmap"
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

#ifndef MAP_FIXED_NOREPLACE
#define MAP_FIXED_NOREPLACE 0x100000
#endif
#define ANON (MAP_PRIVATE | MAP_ANONYMOUS)
#define RW (PROT_READ | PROT_WRITE)

static long map(void *at, size_t size, int prot, int flags, int fd, off_t offset) {
    return syscall(SYS_mmap, at, size, prot, flags, fd, offset);
}

static char *mapped(size_t size, int prot, int flags, int fd) {
    return (char *)works(map(NULL, size, prot, flags, fd, 0), "mmap");
}

/* A file in memory with these bytes. */
static int file(const char *text) {
    int fd = (int)works(memfd_create("mmap", 0), "memfd_create");
    works(write(fd, text, strlen(text)), "write");
    return fd;
}

/* The signal that ends a child which does this. */
static int ends_by(void (*deed)(char *), char *at) {
    int status = 0;
    pid_t child = (pid_t)works(fork(), "fork");
    if (child == 0) {
        deed(at);
        _exit(0);
    }
    waitpid(child, &status, 0);
    return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

static void reads(char *at) {
    (void)*(volatile char *)at;
}

static void writes(char *at) {
    *(volatile char *)at = 1;
}

CHECK(gives_fresh_memory_that_is_empty) {
    char *at = mapped(1 << 20, RW, ANON, -1);
    for (size_t i = 0; i < 1 << 20; i += 512)
        want(at[i] == 0, "byte %zu is not 0", i);
    memset(at, 7, 1 << 20);
    want(at[(1 << 20) - 1] == 7, "it does not keep what is written");
}

CHECK(keeps_private_memory_from_a_child) {
    char *at = mapped(4096, RW, ANON, -1);
    want(ends_by(writes, at) == 0 && *at == 0, "a child's writing is seen");
}

CHECK(shares_shared_memory_with_a_child) {
    char *at = mapped(4096, RW, MAP_SHARED | MAP_ANONYMOUS, -1);
    want(ends_by(writes, at) == 0 && *at == 1, "a child's writing is not seen");
}

CHECK(gives_the_bytes_of_a_file) {
    char *at = mapped(4096, PROT_READ, MAP_PRIVATE, file("glass"));
    want(memcmp(at, "glass\0", 6) == 0, "other bytes, or no zeroes after them");
}

CHECK(writes_shared_changes_to_the_file) {
    char bytes[5];
    int fd = file("glass");
    char *at = mapped(4096, RW, MAP_SHARED, fd);
    at[0] = 'b';
    want(pread(fd, bytes, 5, 0) == 5 && memcmp(bytes, "blass", 5) == 0, "not in the file");
    works(pwrite(fd, "c", 1, 0), "pwrite");
    want(at[0] == 'c', "the file's change is not in the mapping");
}

CHECK(keeps_private_changes_from_the_file) {
    char byte;
    int fd = file("glass");
    mapped(4096, RW, MAP_PRIVATE, fd)[0] = 'b';
    want(pread(fd, &byte, 1, 0) == 1 && byte == 'g', "the file has changed");
}

CHECK(outlives_the_descriptor) {
    int fd = file("glass");
    char *at = mapped(4096, PROT_READ, MAP_SHARED, fd);
    close(fd);
    want(*at == 'g', "gone");
}

CHECK(starts_at_an_offset) {
    int fd = file("glass");
    works(pwrite(fd, "next", 4, (off_t)PAGE), "pwrite");
    char *at = (char *)works(map(NULL, 4, PROT_READ, MAP_SHARED, fd, (off_t)PAGE), "mmap");
    want(memcmp(at, "next", 4) == 0, "other bytes");
}

CHECK(takes_the_address_it_must) {
    char *at = mapped(4096, RW, ANON, -1);
    *at = 1;
    want(map(at, PAGE, RW, ANON | MAP_FIXED, -1, 0) == (long)at, "another address");
    want(*at == 0, "not replaced");
}

CHECK(replaces_nothing_if_asked) {
    char *at = mapped(4096, RW, ANON, -1);
    refuses(map(at, PAGE, RW, ANON | MAP_FIXED_NOREPLACE, -1, 0), EEXIST, "over another mapping");
}

CHECK(kills_who_reads_what_may_not_be_read) {
    want(ends_by(reads, mapped(4096, PROT_NONE, ANON, -1)) == SIGSEGV, "no SIGSEGV");
}

CHECK(kills_who_writes_what_may_only_be_read) {
    want(ends_by(writes, mapped(4096, PROT_READ, ANON, -1)) == SIGSEGV, "no SIGSEGV");
}

CHECK(kills_who_reads_past_the_end_of_a_file) {
    char *at = mapped(1 << 20, PROT_READ, MAP_SHARED, file("glass"));
    want(ends_by(reads, at + (1 << 19)) == SIGBUS, "no SIGBUS");
}

CHECK(runs_code) {
#ifdef __x86_64__
    static const unsigned char code[] = {0xb8, 42, 0, 0, 0, 0xc3}; /* mov $42, %eax; ret */
#else
    static const unsigned char code[] = {0x40, 5, 0x80, 0x52, 0xc0, 3, 0x5f, 0xd6}; /* mov w0, 42 */
#endif
    int fd = (int)works(memfd_create("code", 0), "memfd_create");
    works(write(fd, code, sizeof code), "write");
    char *at = mapped(4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd);
    __builtin___clear_cache(at, at + sizeof code);
    want(((int (*)(void))(uintptr_t)at)() == 42, "other code");
}

CHECK(brings_pages_in_if_asked) {
    unsigned char in[4] = {0};
    char *at = mapped(4 * 4096, RW, ANON | MAP_POPULATE, -1);
    works(mincore(at, 4 * 4096, in), "mincore");
    want(in[0] & 1 && in[(4 * 4096 / PAGE) - 1] & 1, "not in memory");
}

CHECK(reserves_more_than_there_is_memory) {
    char *at = mapped(1ul << 30, PROT_NONE, ANON | MAP_NORESERVE, -1);
    want(((uintptr_t)at & (PAGE - 1)) == 0, "not at a page");
}

CHECK(refuses_an_empty_mapping) {
    refuses(map(NULL, 0, RW, ANON, -1, 0), EINVAL, "of 0 bytes");
}

CHECK(refuses_an_offset_inside_a_page) {
    refuses(map(NULL, 4096, PROT_READ, MAP_SHARED, file("x"), 1), EINVAL, "from byte 1");
}

CHECK(refuses_neither_private_nor_shared) {
    refuses(map(NULL, 4096, RW, MAP_ANONYMOUS, -1, 0), EINVAL, "neither");
}

CHECK(refuses_a_closed_descriptor) {
    refuses(map(NULL, 4096, PROT_READ, MAP_PRIVATE, -1, 0), EBADF, "of -1");
}

CHECK(refuses_to_write_what_was_opened_for_reading) {
    int fd = (int)works(open("/proc/self/exe", O_RDONLY), "open");
    refuses(map(NULL, 4096, RW, MAP_SHARED, fd, 0), EACCES, "shared, to be written");
}

CHECK(refuses_what_can_not_be_mapped) {
    int ends[2];
    works(pipe(ends), "pipe");
    refuses(map(NULL, 4096, PROT_READ, MAP_PRIVATE, ends[0], 0), ENODEV, "a pipe");
}

CHECK(refuses_more_than_there_are_addresses) {
    refuses(map(NULL, ~0xffful, RW, ANON, -1, 0), ENOMEM, "of 2^64 bytes");
}

CHECKS
