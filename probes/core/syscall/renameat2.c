/* renameat2: another name: exchanged, or only if it is free. */
#define CAPABILITY "syscall_renameat2"
#include "_runner_c.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static long change(const char *from, const char *to, unsigned flags) {
    return syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, flags);
}

static char first_of(const char *path) {
    char byte = 0;
    int fd = (int)works(open(path, O_RDONLY), path);
    works(read(fd, &byte, 1), "read");
    close(fd);
    return byte;
}

CHECK(moves_a_file) {
    file_with("one", "1");
    works(change("one", "two", 0), "renameat2");
    refuses(access("one", F_OK), ENOENT, "the old name");
    want(first_of("two") == '1', "another file");
}

CHECK(replaces_what_is_there) {
    file_with("one", "1");
    file_with("two", "2");
    works(change("one", "two", 0), "renameat2");
    want(first_of("two") == '1', "it was not replaced");
}

CHECK(leaves_what_is_there_if_asked) {
    file_with("one", "1");
    file_with("two", "2");
    refuses(change("one", "two", RENAME_NOREPLACE), EEXIST, "renameat2");
    want(first_of("one") == '1' && first_of("two") == '2', "something changed");
}

CHECK(takes_a_free_name_though_it_must_not_replace) {
    file_with("one", "1");
    works(change("one", "two", RENAME_NOREPLACE), "renameat2");
    want(first_of("two") == '1', "another file");
}

CHECK(exchanges_two_files) {
    file_with("one", "1");
    file_with("two", "2");
    works(change("one", "two", RENAME_EXCHANGE), "renameat2");
    want(first_of("one") == '2' && first_of("two") == '1', "they were not exchanged");
}

CHECK(exchanges_a_file_and_a_directory) {
    struct stat facts;
    file_with("one", "1");
    works(mkdir("two", 0700), "mkdir");
    works(change("one", "two", RENAME_EXCHANGE), "renameat2");
    works(stat("one", &facts), "stat");
    want(S_ISDIR(facts.st_mode) && first_of("two") == '1', "they were not exchanged");
}

CHECK(keeps_two_names_of_one_file) {
    file_with("one", "1");
    works(link("one", "two"), "link");
    works(change("one", "two", 0), "renameat2");
    works(access("one", F_OK), "access");
}

CHECK(moves_between_open_directories) {
    own_directory();
    works(mkdir("from", 0700), "mkdir");
    works(mkdir("to", 0700), "mkdir");
    file_with("from/file", "1");
    int from = (int)works(open("from", O_PATH), "open");
    int to = (int)works(open("to", O_PATH), "open");
    works(syscall(SYS_renameat2, from, "file", to, "file", RENAME_NOREPLACE), "renameat2");
    want(first_of("to/file") == '1', "another file");
}

CHECK(refuses_to_exchange_with_nothing) {
    file_with("one", "1");
    refuses(change("one", "nothing", RENAME_EXCHANGE), ENOENT, "renameat2");
}

CHECK(refuses_flags_that_contradict) {
    file_with("one", "1");
    refuses(change("one", "two", RENAME_EXCHANGE | RENAME_NOREPLACE), EINVAL, "both flags");
    refuses(change("one", "two", 1 << 20), EINVAL, "an unknown flag");
}

CHECK(refuses_what_is_not_there) {
    own_directory();
    refuses(change("nothing", "two", RENAME_NOREPLACE), ENOENT, "renameat2 of nothing");
}

CHECK(refuses_a_directory_into_itself) {
    own_directory();
    works(mkdir("one", 0700), "mkdir");
    refuses(change("one", "one/two", 0), EINVAL, "renameat2");
}

CHECK(refuses_a_closed_directory) {
    refuses(syscall(SYS_renameat2, -1, "one", -1, "two", 0), EBADF, "renameat2 beneath -1");
}

CHECKS
