/* fchmod: the permission bits of an open file. */
#define CAPABILITY "syscall_fchmod"
#include "_runner_c.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

CHECK(changes_the_bits) {
    struct stat facts;
    int fd = file_with("file", "");
    works(syscall(SYS_fchmod, fd, 0751), "fchmod");
    works(stat("file", &facts), "stat");
    want((facts.st_mode & 07777) == 0751, "mode %o", facts.st_mode & 07777);
}

CHECK(refuses_a_place_without_a_file) {
    own_directory();
    refuses(syscall(SYS_fchmod, works(open(".", O_PATH), "open ."), 0700), EBADF, "an O_PATH one");
}

CHECK(refuses_a_closed_descriptor) {
    refuses(syscall(SYS_fchmod, -1, 0600), EBADF, "fchmod of -1");
}

CHECKS
