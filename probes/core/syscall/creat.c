/* creat: a new file, or an emptied one. */
#define CAPABILITY "syscall_creat"
#include "_runner_c.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifdef SYS_creat

CHECK(makes_a_file_for_writing) {
    struct stat facts;
    own_directory();
    int fd = (int)works(syscall(SYS_creat, "file", 0640), "creat");
    works(write(fd, "x", 1), "write");
    works(stat("file", &facts), "stat");
    want(facts.st_size == 1 && (facts.st_mode & 07777) == 0640, "mode %o", facts.st_mode & 07777);
    refuses(read(fd, &facts, 1), EBADF, "read of it");
}

CHECK(empties_what_is_there) {
    struct stat facts;
    int fd = file_with("file", "glass");
    works(syscall(SYS_creat, "file", 0600), "creat");
    works(fstat(fd, &facts), "fstat");
    want(facts.st_size == 0, "it was not emptied");
}

CHECK(refuses_a_directory) {
    own_directory();
    refuses(syscall(SYS_creat, ".", 0600), EISDIR, "creat of a directory");
}

CHECK(refuses_a_place_that_is_not_there) {
    own_directory();
    refuses(syscall(SYS_creat, "nothing/file", 0600), ENOENT, "creat in nothing");
}

#else

CHECK(is_not_a_call_of_this_architecture) {
    unavailable("this architecture has no creat");
}

#endif

CHECKS
