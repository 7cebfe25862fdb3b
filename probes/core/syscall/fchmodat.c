/* fchmodat: the permission bits of a file beneath an open directory. */
#define CAPABILITY "syscall_fchmodat"
#include "_runner_c.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

CHECK(changes_the_bits) {
    struct stat facts;
    int fd = file_with("file", ""), here = (int)works(open(".", O_PATH), "open .");
    works(chdir("/"), "chdir");
    works(syscall(SYS_fchmodat, here, "file", 0751), "fchmodat");
    works(fstat(fd, &facts), "fstat");
    want((facts.st_mode & 07777) == 0751, "mode %o", facts.st_mode & 07777);
}

CHECK(refuses_what_is_not_there) {
    own_directory();
    refuses(syscall(SYS_fchmodat, AT_FDCWD, "nothing", 0600), ENOENT, "fchmodat of nothing");
}

CHECK(refuses_a_closed_directory) {
    refuses(syscall(SYS_fchmodat, -1, "file", 0600), EBADF, "fchmodat beneath -1");
}

CHECKS
