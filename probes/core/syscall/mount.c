/* mount: a file system in a place, in a namespace of its own. */
#define CAPABILITY "syscall_mount"
#include "_runner_c.h"

#include <fcntl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

static void try_mount(const char *from, const char *to, const char *type, unsigned long flags) {
    works(syscall(SYS_mount, from, to, type, flags, NULL), "mount");
}

static void prepare(void) {
    own_directory();
    works(mkdir("place", 0700), "mkdir");
    works(own_mounts(), "a mount namespace");
}

CHECK(refuses_a_bad_address) {
    own_mounts();
    refuses(syscall(SYS_mount, (void *)8, (void *)8, (void *)8, 0, NULL), EFAULT, "mount of 8");
}

CHECK(puts_a_new_file_system_there) {
    struct statfs facts;
    prepare();
    try_mount("none", "place", "tmpfs", 0);
    works(statfs("place", &facts), "statfs");
    want(facts.f_type == 0x01021994, "type %lx", (long)facts.f_type);
}

CHECK(hides_what_was_there) {
    own_directory();
    works(mkdir("place", 0700), "mkdir");
    close(file_with("place/file", ""));
    works(own_mounts(), "a mount namespace");
    try_mount("none", "place", "tmpfs", 0);
    refuses(access("place/file", F_OK), ENOENT, "the file below");
}

CHECK(shows_a_directory_in_a_second_place) {
    prepare();
    try_mount("/usr", "place", NULL, MS_BIND | MS_REC);
    works(access("place/bin/env", F_OK), "access");
}

CHECK(can_make_a_place_read_only) {
    prepare();
    try_mount("none", "place", "tmpfs", 0);
    works(mkdir("place/before", 0700), "mkdir");
    try_mount("none", "place", NULL, MS_REMOUNT | MS_BIND | MS_RDONLY);
    refuses(mkdir("place/after", 0700), EROFS, "mkdir");
}

CHECK(moves_a_mount) {
    prepare();
    works(mkdir("other", 0700), "mkdir");
    try_mount("none", "place", "tmpfs", 0);
    works(mkdir("place/inside", 0700), "mkdir");
    try_mount("place", "other", NULL, MS_MOVE);
    works(access("other/inside", F_OK), "access");
    refuses(access("place/inside", F_OK), ENOENT, "the old place");
}

CHECK(refuses_an_unknown_type) {
    prepare();
    refuses(syscall(SYS_mount, "none", "place", "glassfs", 0, NULL), ENODEV, "mount of glassfs");
}

CHECK(refuses_a_place_that_is_not_there) {
    prepare();
    refuses(syscall(SYS_mount, "none", "nothing", "tmpfs", 0, NULL), ENOENT, "mount on nothing");
}

CHECK(refuses_a_file_for_a_directory) {
    own_directory();
    close(file_with("file", ""));
    works(own_mounts(), "a mount namespace");
    refuses(syscall(SYS_mount, "none", "file", "tmpfs", 0, NULL), ENOTDIR, "mount on a file");
}

CHECK(refuses_to_change_what_is_no_mount) {
    prepare();
    refuses(syscall(SYS_mount, "none", "place", NULL, MS_REMOUNT, NULL), EINVAL, "a remount");
}

CHECKS
