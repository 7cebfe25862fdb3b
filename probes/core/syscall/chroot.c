/* chroot: another root directory, in a child that ends. */
#define CAPABILITY "syscall_chroot"
#include "_runner_c.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

CHECK(changes_where_paths_begin) {
    works(syscall(SYS_chroot, "/usr"), "chroot");
    works(access("/bin/env", F_OK), "access /bin/env");
    refuses(access("/usr/bin/env", F_OK), ENOENT, "the old path");
}

CHECK(leaves_the_working_directory) {
    struct stat before, after;
    works(chdir("/"), "chdir");
    works(stat(".", &before), "stat");
    works(syscall(SYS_chroot, "/usr"), "chroot");
    works(stat(".", &after), "stat");
    want(before.st_ino == after.st_ino, "it moved");
}

CHECK(leaves_open_directories) {
    int fd = (int)works(open("/", O_RDONLY), "open /");
    works(syscall(SYS_chroot, "/usr"), "chroot");
    works(faccessat(fd, "usr/bin/env", F_OK, 0), "the old path beneath the old root");
}

CHECK(keeps_dot_dot_inside) {
    works(syscall(SYS_chroot, "/usr"), "chroot");
    works(chdir("/"), "chdir");
    works(access("../bin/env", F_OK), "access ../bin/env");
}

CHECK(follows_a_link) {
    own_directory();
    works(symlink("/usr", "link"), "symlink");
    works(syscall(SYS_chroot, "link"), "chroot");
    works(access("/bin/env", F_OK), "access /bin/env");
}

CHECK(makes_an_absolute_link_begin_at_the_new_root) {
    own_directory();
    works(mkdir("root", 0700), "mkdir");
    works(symlink("/file", "root/link"), "symlink");
    close(file_with("root/file", ""));
    works(syscall(SYS_chroot, "root"), "chroot");
    works(access("/link", F_OK), "access through the link");
}

CHECK(refuses_a_file) {
    file_with("file", "");
    refuses(syscall(SYS_chroot, "file"), ENOTDIR, "chroot to a file");
}

CHECK(refuses_what_is_not_there) {
    own_directory();
    refuses(syscall(SYS_chroot, "nothing"), ENOENT, "chroot to nothing");
}

CHECK(refuses_a_link_to_itself) {
    own_directory();
    works(symlink("loop", "loop"), "symlink");
    refuses(syscall(SYS_chroot, "loop"), ELOOP, "chroot to a loop");
}

CHECK(refuses_a_bad_address) {
    refuses(syscall(SYS_chroot, (void *)8), EFAULT, "chroot to the path at 8");
}

CHECKS
