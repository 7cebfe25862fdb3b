/* vmsplice: memory into a pipe, and out of it. */
#define CAPABILITY "syscall_vmsplice"
#include "_runner_c.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

static char bytes[16];
static int ends[2];

static long give(struct iovec *places, size_t count, unsigned flags) {
    works(pipe(ends), "pipe");
    return syscall(SYS_vmsplice, ends[1], places, count, flags);
}

CHECK(puts_memory_into_a_pipe) {
    want(works(give(&(struct iovec){"glass", 5}, 1, 0), "vmsplice") == 5, "not five bytes");
    want(read(ends[0], bytes, 16) == 5 && memcmp(bytes, "glass", 5) == 0, "other bytes");
}

CHECK(takes_several_places) {
    struct iovec places[] = {{"gl", 2}, {"ass", 3}};
    want(works(give(places, 2, 0), "vmsplice") == 5, "not five bytes");
    want(read(ends[0], bytes, 16) == 5 && memcmp(bytes, "glass", 5) == 0, "other bytes");
}

CHECK(shares_memory_rather_than_copying_it) {
    static char shared[] = "glass";
    works(give(&(struct iovec){shared, 5}, 1, 0), "vmsplice");
    shared[0] = 'c';
    want(read(ends[0], bytes, 16) == 5 && memcmp(bytes, "class", 5) == 0, "it was copied");
}

CHECK(gives_a_page_away) {
    size_t size = (size_t)sysconf(_SC_PAGESIZE);
    char *page = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    want(page != MAP_FAILED, "mmap");
    memcpy(page, "glass", 5);
    struct iovec place = {page, size};
    want(works(give(&place, 1, SPLICE_F_GIFT), "vmsplice") == (long)size, "not the page");
    want(read(ends[0], bytes, 16) == 16 && memcmp(bytes, "glass", 5) == 0, "other bytes");
}

CHECK(takes_bytes_out_of_a_pipe) {
    struct iovec place = {bytes, sizeof bytes};
    works(pipe(ends), "pipe");
    works(write(ends[1], "glass", 5), "write");
    want(works(syscall(SYS_vmsplice, ends[0], &place, 1, 0), "vmsplice") == 5, "not five bytes");
    want(memcmp(bytes, "glass", 5) == 0, "other bytes");
}

CHECK(of_no_places_gives_0) {
    want(works(give(&(struct iovec){"", 0}, 0, 0), "vmsplice") == 0, "something was moved");
}

CHECK(refuses_to_wait_if_asked) {
    static char page[4096];
    works(pipe2(ends, O_NONBLOCK), "pipe2");
    for (int i = 0; i < 1000 && write(ends[1], page, sizeof page) > 0; i++)
        ;
    struct iovec place = {"x", 1};
    refuses(syscall(SYS_vmsplice, ends[1], &place, 1, SPLICE_F_NONBLOCK), EAGAIN, "vmsplice");
}

CHECK(refuses_too_many_places) {
    static struct iovec places[1025];
    refuses(give(places, 1025, 0), EINVAL, "vmsplice of 1025");
}

CHECK(refuses_a_bad_address) {
    refuses(give(&(struct iovec){(void *)8, 1}, 1, 0), EFAULT, "vmsplice from 8");
}

CHECK(refuses_what_is_no_pipe) {
    struct iovec place = {"x", 1};
    refuses(syscall(SYS_vmsplice, file_with("file", ""), &place, 1, 0), EBADF, "to a file");
}

CHECK(refuses_unknown_flags) {
    refuses(give(&(struct iovec){"x", 1}, 1, 1 << 20), EINVAL, "vmsplice with an unknown flag");
}

CHECK(refuses_a_closed_descriptor) {
    struct iovec place = {"x", 1};
    refuses(syscall(SYS_vmsplice, -1, &place, 1, 0), EBADF, "vmsplice to -1");
}

CHECKS
