/* openat2: a path opened under a promise. */
#define CAPABILITY "syscall_openat2"
#include "_runner_c.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static long open_how(int directory, const char *path, struct open_how how) {
    return syscall(SYS_openat2, directory, path, &how, sizeof how);
}

CHECK(opens_a_file) {
    char bytes[8];
    file_with("file", "glass");
    struct open_how how = {.flags = O_RDONLY};
    int fd = (int)works(open_how(AT_FDCWD, "file", how), "openat2");
    want(read(fd, bytes, sizeof bytes) == 5 && !memcmp(bytes, "glass", 5), "not that file");
}

CHECK(makes_a_file_with_its_mode) {
    struct open_how how = {.flags = O_CREAT | O_WRONLY, .mode = 0600};
    struct stat facts;
    own_directory();
    works(open_how(AT_FDCWD, "file", how), "openat2");
    works(stat("file", &facts), "stat");
    want((facts.st_mode & 07777) == 0600, "mode %o", facts.st_mode & 07777);
}

CHECK(stays_beneath_if_asked) {
    struct open_how how = {.flags = O_RDONLY, .resolve = RESOLVE_BENEATH};
    int usr = (int)works(open("/usr", O_PATH | O_DIRECTORY), "open /usr");
    works(open_how(usr, "bin/env", how), "openat2 beneath /usr");
    refuses(open_how(usr, "../usr/bin/env", how), EXDEV, "openat2 through ..");
    refuses(open_how(usr, "/usr/bin/env", how), EXDEV, "openat2 of an absolute path");
}

CHECK(takes_the_directory_for_the_root_if_asked) {
    struct open_how how = {.flags = O_RDONLY, .resolve = RESOLVE_IN_ROOT};
    int usr = (int)works(open("/usr", O_PATH | O_DIRECTORY), "open /usr");
    works(open_how(usr, "/../bin/env", how), "openat2 of /../bin/env in /usr");
}

CHECK(follows_no_link_if_asked) {
    struct open_how how = {.flags = O_RDONLY, .resolve = RESOLVE_NO_SYMLINKS};
    own_directory();
    works(symlink("/", "link"), "symlink");
    refuses(open_how(AT_FDCWD, "link/usr", how), ELOOP, "openat2 through a link");
}

CHECK(refuses_unknown_flags) {
    struct open_how how = {.flags = 1ULL << 40};
    refuses(open_how(AT_FDCWD, "/", how), EINVAL, "openat2 with an unknown flag");
}

CHECK(refuses_a_mode_without_making) {
    struct open_how how = {.flags = O_RDONLY, .mode = 0600};
    refuses(open_how(AT_FDCWD, "/", how), EINVAL, "openat2 with a mode and no O_CREAT");
}

CHECK(refuses_a_size_that_is_too_small) {
    struct open_how how = {0};
    refuses(syscall(SYS_openat2, AT_FDCWD, "/", &how, 8), EINVAL, "openat2 of 8 bytes");
}

CHECK(refuses_what_it_does_not_know) {
    struct {
        struct open_how how;
        unsigned long long more;
    } wide = {.more = 1};
    refuses(syscall(SYS_openat2, AT_FDCWD, "/", &wide, sizeof wide), E2BIG, "openat2 of more");
}

CHECKS
