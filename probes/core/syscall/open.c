/* open: a file that is there, and a new one. */
#define CAPABILITY "syscall_open"
#include "_runner_c.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifdef SYS_open

CHECK(gives_a_descriptor_of_the_file) {
    char byte = 0;
    file_with("file", "g");
    int fd = (int)works(syscall(SYS_open, "file", O_RDONLY), "open");
    want(read(fd, &byte, 1) == 1 && byte == 'g', "it is not that file");
}

CHECK(makes_a_file_with_its_mode) {
    struct stat facts;
    own_directory();
    umask(022);
    works(syscall(SYS_open, "file", O_CREAT | O_EXCL | O_WRONLY, 0666), "open");
    works(stat("file", &facts), "stat");
    want((facts.st_mode & 07777) == 0644, "mode %o", facts.st_mode & 07777);
}

CHECK(refuses_what_is_not_there) {
    own_directory();
    refuses(syscall(SYS_open, "nothing", O_RDONLY), ENOENT, "open of nothing");
}

CHECK(refuses_what_is_there_already) {
    file_with("file", "");
    refuses(syscall(SYS_open, "file", O_CREAT | O_EXCL, 0600), EEXIST, "open with O_EXCL");
}

CHECK(refuses_to_write_to_a_directory) {
    own_directory();
    refuses(syscall(SYS_open, ".", O_WRONLY), EISDIR, "open of . for writing");
}

CHECK(refuses_a_bad_address) {
    refuses(syscall(SYS_open, (void *)8, O_RDONLY), EFAULT, "open of the path at 8");
}

#else

CHECK(is_not_a_call_of_this_architecture) {
    unavailable("this architecture has no open");
}

#endif

CHECKS
