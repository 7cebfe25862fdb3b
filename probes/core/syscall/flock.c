/* flock: a lock on a whole file, by its opening. */
#define CAPABILITY "syscall_flock"
#include "_runner_c.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/syscall.h>
#include <unistd.h>

static int again(void) {
    return (int)works(open("file", O_RDONLY), "open");
}

CHECK(keeps_another_opening_out) {
    int one = file_with("file", ""), other = again();
    works(syscall(SYS_flock, one, LOCK_EX), "flock");
    refuses(syscall(SYS_flock, other, LOCK_EX | LOCK_NB), EWOULDBLOCK, "a second lock");
}

CHECK(is_shared_by_readers) {
    int one = file_with("file", ""), other = again();
    works(syscall(SYS_flock, one, LOCK_SH), "flock");
    works(syscall(SYS_flock, other, LOCK_SH | LOCK_NB), "a second reader's flock");
    refuses(syscall(SYS_flock, other, LOCK_EX | LOCK_NB), EWOULDBLOCK, "a writer's");
}

CHECK(lets_others_in_when_undone) {
    int one = file_with("file", ""), other = again();
    works(syscall(SYS_flock, one, LOCK_EX), "flock");
    works(syscall(SYS_flock, one, LOCK_UN), "flock LOCK_UN");
    works(syscall(SYS_flock, other, LOCK_EX | LOCK_NB), "flock afterwards");
}

CHECK(ends_with_the_last_copy_of_the_descriptor) {
    int one = file_with("file", ""), copy = (int)works(dup(one), "dup"), other = again();
    works(syscall(SYS_flock, one, LOCK_EX), "flock");
    close(one);
    refuses(syscall(SYS_flock, other, LOCK_EX | LOCK_NB), EWOULDBLOCK, "while a copy is open");
    close(copy);
    works(syscall(SYS_flock, other, LOCK_EX | LOCK_NB), "flock afterwards");
}

CHECK(refuses_an_unknown_operation) {
    refuses(syscall(SYS_flock, file_with("file", ""), 16), EINVAL, "flock 16");
}

CHECK(refuses_a_closed_descriptor) {
    refuses(syscall(SYS_flock, -1, LOCK_EX), EBADF, "flock of -1");
}

CHECKS
