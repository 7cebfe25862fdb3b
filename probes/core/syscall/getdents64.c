/* getdents64: the names in a directory, with their inodes and types. */
#define CAPABILITY "syscall_getdents64"
#include "_runner_c.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static char room[4096] __attribute__((aligned(8)));

static struct dirent64 *find(const char *name, long size) {
    for (long at = 0; at < size; at += ((struct dirent64 *)(room + at))->d_reclen)
        if (strcmp(((struct dirent64 *)(room + at))->d_name, name) == 0)
            return (struct dirent64 *)(room + at);
    return NULL;
}

CHECK(lists_names_inodes_and_types) {
    struct stat facts;
    works(fstat(file_with("file", ""), &facts), "fstat");
    works(mkdir("directory", 0700), "mkdir");
    int fd = (int)works(open(".", O_RDONLY), "open .");
    long size = works(syscall(SYS_getdents64, fd, room, sizeof room), "getdents64");
    struct dirent64 *file = find("file", size), *directory = find("directory", size);
    want(file && directory && find(".", size) && find("..", size), "a name is missing");
    want(file->d_ino == facts.st_ino && file->d_type == DT_REG, "another inode or type");
    want(directory->d_type == DT_DIR, "another type");
    want(works(syscall(SYS_getdents64, fd, room, sizeof room), "getdents64") == 0, "it has no end");
}

CHECK(gives_all_names_in_parts) {
    int found = 0;
    char name[16];
    own_directory();
    for (int i = 0; i < 50; i++) {
        snprintf(name, sizeof name, "n%d", i);
        close(file_with(name, ""));
    }
    int fd = (int)works(open(".", O_RDONLY), "open .");
    for (int calls = 0; calls < 100; calls++) {
        long size = works(syscall(SYS_getdents64, fd, room, 200), "getdents64");
        if (size == 0)
            break;
        for (long at = 0; at < size; at += ((struct dirent64 *)(room + at))->d_reclen)
            found++;
    }
    want(found == 52, "%d names, not 52", found);
}

CHECK(begins_anew_after_lseek) {
    file_with("file", "");
    int fd = (int)works(open(".", O_RDONLY), "open .");
    works(syscall(SYS_getdents64, fd, room, sizeof room), "getdents64");
    works(lseek(fd, 0, SEEK_SET), "lseek");
    long size = works(syscall(SYS_getdents64, fd, room, sizeof room), "getdents64");
    want(find("file", size) != NULL, "the name is missing");
}

CHECK(refuses_a_directory_that_is_gone) {
    own_directory();
    works(mkdir("gone", 0700), "mkdir");
    int fd = (int)works(open("gone", O_RDONLY), "open");
    works(rmdir("gone"), "rmdir");
    refuses(syscall(SYS_getdents64, fd, room, sizeof room), ENOENT, "getdents64");
}

CHECK(refuses_a_file) {
    refuses(syscall(SYS_getdents64, file_with("file", ""), room, sizeof room), ENOTDIR, "a file");
}

CHECK(refuses_too_little_room) {
    own_directory();
    int fd = (int)works(open(".", O_RDONLY), "open .");
    refuses(syscall(SYS_getdents64, fd, room, 1), EINVAL, "getdents64 in 1 byte");
}

CHECK(refuses_a_bad_address) {
    own_directory();
    int fd = (int)works(open(".", O_RDONLY), "open .");
    refuses(syscall(SYS_getdents64, fd, (void *)8, 4096), EFAULT, "getdents64 to 8");
}

CHECK(refuses_a_closed_descriptor) {
    refuses(syscall(SYS_getdents64, -1, room, sizeof room), EBADF, "getdents64 of -1");
}

CHECKS
