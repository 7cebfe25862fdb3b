/* umount2: a file system, taken away, in a namespace of its own. */
#define CAPABILITY "syscall_umount2"
#include "_runner_c.h"

#include <fcntl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static void prepare(void) {
    own_directory();
    works(mkdir("place", 0700), "mkdir");
    works(own_mounts(), "a mount namespace");
    works(mount("none", "place", "tmpfs", 0, NULL), "mount");
    works(mkdir("place/inside", 0700), "mkdir");
}

CHECK(refuses_a_bad_address) {
    own_mounts();
    refuses(syscall(SYS_umount2, (void *)8, 0), EFAULT, "umount2 of the path at 8");
}

CHECK(takes_a_file_system_away) {
    prepare();
    works(syscall(SYS_umount2, "place", 0), "umount2");
    refuses(access("place/inside", F_OK), ENOENT, "what was inside");
}

CHECK(leaves_what_is_in_use_unless_asked) {
    prepare();
    int fd = (int)works(open("place/inside", O_RDONLY), "open");
    refuses(syscall(SYS_umount2, "place", 0), EBUSY, "umount2 of what is in use");
    works(syscall(SYS_umount2, "place", MNT_DETACH), "umount2 with MNT_DETACH");
    works(fstat(fd, &(struct stat){0}), "fstat of what was open");
}

CHECK(takes_only_what_was_not_used_since_if_asked) {
    prepare();
    refuses(syscall(SYS_umount2, "place", MNT_EXPIRE), EAGAIN, "umount2 with MNT_EXPIRE");
    works(syscall(SYS_umount2, "place", MNT_EXPIRE), "umount2 again");
}

CHECK(follows_no_link_if_asked) {
    prepare();
    works(symlink("place", "link"), "symlink");
    refuses(syscall(SYS_umount2, "link", UMOUNT_NOFOLLOW), EINVAL, "umount2 of a link");
}

CHECK(refuses_what_is_no_mount) {
    prepare();
    refuses(syscall(SYS_umount2, "place/inside", 0), EINVAL, "umount2 of a directory");
}

CHECK(refuses_what_is_not_there) {
    prepare();
    refuses(syscall(SYS_umount2, "nothing", 0), ENOENT, "umount2 of nothing");
}

CHECK(refuses_unknown_flags) {
    own_mounts();
    refuses(syscall(SYS_umount2, "/nonexistent", 1 << 20), EINVAL, "umount2 with 1 << 20");
}

CHECKS
