/* tee: the bytes of a pipe, copied to another and kept. */
#define CAPABILITY "syscall_tee"
#include "_runner_c.h"

#include <fcntl.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static char bytes[16];
static int one[2], two[2];

static void make_pipes(const char *text) {
    works(pipe(one), "pipe");
    works(pipe(two), "pipe");
    works(write(one[1], text, strlen(text)), "write");
}

CHECK(copies_and_keeps_the_bytes) {
    make_pipes("glass");
    want(works(syscall(SYS_tee, one[0], two[1], 16, 0), "tee") == 5, "not five bytes");
    want(read(two[0], bytes, 16) == 5 && memcmp(bytes, "glass", 5) == 0, "other bytes");
    want(read(one[0], bytes, 16) == 5 && memcmp(bytes, "glass", 5) == 0, "they are gone");
}

CHECK(copies_no_more_than_asked_for) {
    make_pipes("glass");
    want(works(syscall(SYS_tee, one[0], two[1], 2, 0), "tee") == 2, "not two bytes");
    want(read(two[0], bytes, 16) == 2 && memcmp(bytes, "gl", 2) == 0, "other bytes");
}

CHECK(begins_anew_each_time) {
    make_pipes("glass");
    works(syscall(SYS_tee, one[0], two[1], 2, 0), "tee");
    works(syscall(SYS_tee, one[0], two[1], 2, 0), "tee");
    want(read(two[0], bytes, 16) == 4 && memcmp(bytes, "glgl", 4) == 0, "other bytes");
}

CHECK(of_0_bytes_gives_0) {
    make_pipes("glass");
    want(works(syscall(SYS_tee, one[0], two[1], 0, 0), "tee") == 0, "something was copied");
}

CHECK(gives_0_where_nobody_writes) {
    make_pipes("");
    close(one[1]);
    want(works(syscall(SYS_tee, one[0], two[1], 5, 0), "tee") == 0, "something was copied");
}

CHECK(refuses_to_wait_if_asked) {
    make_pipes("");
    refuses(syscall(SYS_tee, one[0], two[1], 5, SPLICE_F_NONBLOCK), EAGAIN, "tee of nothing");
}

CHECK(refuses_a_pipe_into_itself) {
    make_pipes("glass");
    refuses(syscall(SYS_tee, one[0], one[1], 5, 0), EINVAL, "tee of a pipe into itself");
}

CHECK(refuses_what_is_no_pipe) {
    make_pipes("glass");
    refuses(syscall(SYS_tee, one[0], file_with("file", ""), 5, 0), EINVAL, "tee to a file");
}

CHECK(refuses_an_end_of_the_wrong_kind) {
    make_pipes("glass");
    refuses(syscall(SYS_tee, one[1], two[1], 5, 0), EBADF, "tee from a writing end");
    refuses(syscall(SYS_tee, one[0], two[0], 5, 0), EBADF, "tee to a reading end");
}

CHECK(refuses_unknown_flags) {
    make_pipes("glass");
    refuses(syscall(SYS_tee, one[0], two[1], 5, 1 << 20), EINVAL, "tee with an unknown flag");
}

CHECK(refuses_a_closed_descriptor) {
    make_pipes("");
    refuses(syscall(SYS_tee, -1, two[1], 5, 0), EBADF, "tee from -1");
}

CHECKS
