/* fstatfs: the file system of an open file. */
#define CAPABILITY "syscall_fstatfs"
#include "_runner_c.h"

#include <fcntl.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

static struct statfs facts;

CHECK(agrees_with_statfs) {
    struct statfs other;
    works(syscall(SYS_fstatfs, file_with("file", ""), &facts), "fstatfs");
    works(statfs("file", &other), "statfs");
    want(facts.f_type == other.f_type && facts.f_bsize == other.f_bsize, "they differ");
}

CHECK(knows_a_pipe) {
    int ends[2];
    works(pipe(ends), "pipe");
    works(syscall(SYS_fstatfs, ends[0], &facts), "fstatfs");
    want(facts.f_type == 0x50495045, "type %lx", (long)facts.f_type);
}

CHECK(refuses_a_closed_descriptor) {
    refuses(syscall(SYS_fstatfs, -1, &facts), EBADF, "fstatfs of -1");
}

CHECK(refuses_a_bad_address) {
    refuses(syscall(SYS_fstatfs, file_with("file", ""), (void *)8), EFAULT, "fstatfs to 8");
}

CHECKS
