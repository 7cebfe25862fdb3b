/* pivot_root: another root for a whole mount namespace of its own. */
#define CAPABILITY "syscall_pivot_root"
#include "_runner_c.h"

#include <fcntl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static long pivot(const char *root, const char *old) {
    return syscall(SYS_pivot_root, root, old);
}

/* A mount at new, with a directory in it for the old root. */
static void prepare(void) {
    own_directory();
    works(mkdir("new", 0700), "mkdir");
    works(own_mounts(), "a mount namespace");
    works(mount("none", "new", "tmpfs", 0, NULL), "mount");
    works(mkdir("new/old", 0700), "mkdir");
}

CHECK(refuses_a_bad_address) {
    own_mounts();
    refuses(pivot((void *)8, (void *)8), EFAULT, "pivot_root to the path at 8");
}

CHECK(refuses_what_is_not_there) {
    own_mounts();
    refuses(pivot("/nonexistent/new", "/nonexistent/old"), ENOENT, "pivot_root to nothing");
}

CHECK(makes_a_mount_the_root) {
    prepare();
    works(pivot("new", "new/old"), "pivot_root");
    works(access("/old/usr", F_OK), "access /old/usr");
    refuses(access("/usr", F_OK), ENOENT, "the old path");
}

CHECK(takes_along_who_was_at_the_old_root) {
    prepare();
    int own = (int)works(open(".", O_PATH), "open .");
    works(chdir("/"), "chdir");
    works(fchdir(own), "fchdir");
    works(pivot("new", "new/old"), "pivot_root");
    works(chdir("/"), "chdir");
    works(access("old", F_OK), "access old");
}

CHECK(puts_the_old_root_below_the_new_one_to_be_taken_away) {
    prepare();
    works(chdir("new"), "chdir");
    works(pivot(".", "."), "pivot_root");
    works(umount2(".", MNT_DETACH), "umount2 of the old root");
    works(chdir("/"), "chdir");
    works(access("/old", F_OK), "access /old");
    refuses(access("/usr", F_OK), ENOENT, "the old path");
}

CHECK(refuses_what_is_no_mount) {
    prepare();
    works(mkdir("new/old/older", 0700), "mkdir");
    refuses(pivot("new/old", "new/old/older"), EINVAL, "pivot_root to a directory");
}

CHECK(refuses_to_leave_the_old_root_where_it_is) {
    prepare();
    refuses(pivot("new", "/"), EBUSY, "pivot_root with the old root at /");
}

CHECK(refuses_an_old_root_that_is_elsewhere) {
    prepare();
    works(mkdir("elsewhere", 0700), "mkdir");
    works(mount("none", "elsewhere", "tmpfs", 0, NULL), "mount");
    refuses(pivot("new", "elsewhere"), EINVAL, "pivot_root");
}

CHECK(refuses_a_file) {
    prepare();
    close(file_with("file", ""));
    refuses(pivot("file", "new/old"), ENOTDIR, "pivot_root to a file");
}

CHECK(refuses_a_root_that_is_shared_with_others) {
    prepare();
    works(mount(NULL, "new", NULL, MS_SHARED, NULL), "mount MS_SHARED");
    refuses(pivot("new", "new/old"), EINVAL, "pivot_root to a shared mount");
}

CHECKS
