/* The scratch directory: the same for each program, listed in lines that can be compared. */
#define _GNU_SOURCE
#include "executor.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define TOP "/tmp/wardian-fuzz"
#define SCRATCH TOP "/s"
#define MAX_DEPTH 8

static void make_file(const char *name, const char *text, mode_t mode) {
    int fd = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0 || write(fd, text, strlen(text)) != (ssize_t)strlen(text) || fchmod(fd, mode) < 0)
        die("making %s", name);
    close(fd);
}

static void make_scratch(void) {
    if ((mkdir(TOP, 0755) < 0 && errno != EEXIST) || mkdir(SCRATCH, 0755) < 0 || chdir(SCRATCH) < 0)
        die("making " SCRATCH);
    make_file("f", "The quick brown fox jumps over the lazy dog.\n", 0644);
    make_file("e", "", 0644);
    make_file("r", "read only\n", 0444);
    make_file("n", "closed\n", 0);
    make_file("x", "#!/bin/sh\nexit 5\n", 0755);
    if (mkdir("d", 0755) < 0 || mkdir("d/h", 0755) < 0 || symlink("f", "l") < 0 ||
        symlink("nowhere", "b") < 0 || mkfifo("p", 0644) < 0)
        die("making scratch");
    make_file("d/g", "inner\n", 0644);
}

static void remove_below(int directory, int depth) {
    DIR *entries = fdopendir(directory);
    if (!entries)
        die("listing");
    struct dirent *entry;
    while ((entry = readdir(entries))) {
        const char *name = entry->d_name;
        if (!strcmp(name, ".") || !strcmp(name, "..") || !unlinkat(dirfd(entries), name, 0))
            continue;
        fchmodat(dirfd(entries), name, 0700, 0);
        int below = openat(dirfd(entries), name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (below >= 0 && depth < 64)
            remove_below(below, depth + 1);
        if (unlinkat(dirfd(entries), name, AT_REMOVEDIR) < 0)
            die("removing %s", name);
    }
    closedir(entries);
}

void reset_scratch(void) {
    chmod("/tmp", 01777); /* it may be the program's, and closed by it */
    if (chdir("/") < 0 || (chmod(TOP, 0755) < 0 && errno != ENOENT))
        die("leaving scratch");
    int top = open(TOP, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (top >= 0)
        remove_below(top, 0);
    make_scratch();
}

static uint64_t digest(int directory, const char *name) {
    uint64_t hash = 0xcbf29ce484222325;
    unsigned char block[4096];
    ssize_t n, total = 0;
    int fd = openat(directory, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0)
        return 0;
    while (total < (1 << 20) && (n = read(fd, block, sizeof block)) > 0) {
        for (ssize_t i = 0; i < n; i++)
            hash = (hash ^ block[i]) * 0x100000001b3;
        total += n;
    }
    close(fd);
    return hash;
}

static void append(struct listing *listing, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static void append(struct listing *listing, const char *format, ...) {
    size_t room = sizeof listing->text - listing->used;
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(listing->text + listing->used, room, format, arguments);
    va_end(arguments);
    if (length < 0 || (size_t)length >= room)
        listing->whole = false;
    else
        listing->used += (size_t)length;
}

static int by_name(const void *one, const void *other) {
    return strcmp(*(char *const *)one, *(char *const *)other);
}

static void tell_entry(struct listing *listing, int directory, const char *path, const char *name,
                       int depth);

static void list_below(struct listing *listing, int directory, const char *path, int depth) {
    char *names[64];
    size_t count = 0;
    DIR *entries = fdopendir(directory);
    if (!entries) {
        close(directory);
        return;
    }
    struct dirent *entry;
    while ((entry = readdir(entries)) && count < 64)
        if (strcmp(entry->d_name, ".") && strcmp(entry->d_name, ".."))
            names[count++] = strdup(entry->d_name);
    qsort(names, count, sizeof *names, by_name);
    for (size_t i = 0; i < count; i++) {
        char below[512];
        if (snprintf(below, sizeof below, "%s%s%s", path, *path ? "/" : "", names[i]) <
            (int)sizeof below)
            tell_entry(listing, dirfd(entries), below, names[i], depth);
        free(names[i]);
    }
    closedir(entries);
}

/* One line: type, mode, size, links, digest or target, and the path, with odd bytes as escapes. */
static void tell_entry(struct listing *listing, int directory, const char *path, const char *name,
                       int depth) {
    struct stat st;
    char target[256] = "";
    if (fstatat(directory, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
        return;
    bool is_directory = S_ISDIR(st.st_mode), is_file = S_ISREG(st.st_mode);
    if (S_ISLNK(st.st_mode) && readlinkat(directory, name, target, sizeof target - 1) < 0)
        *target = 0;
    append(listing, "%o %lld %lu %llx ", (unsigned)st.st_mode,
         is_directory ? 0LL : (long long)st.st_size, (unsigned long)st.st_nlink,
         is_file ? (unsigned long long)digest(directory, name) : 0ULL);
    for (const char *at = path; *at; at++)
        append(listing, *at > ' ' && *at < 127 && *at != '\\' ? "%c" : "\\%02x", (unsigned char)*at);
    append(listing, " ");
    for (const char *at = target; *at; at++)
        append(listing, *at > ' ' && *at < 127 && *at != '\\' ? "%c" : "\\%02x", (unsigned char)*at);
    append(listing, "\n");
    if (is_directory && depth < MAX_DEPTH) {
        int below = openat(directory, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (below >= 0)
            list_below(listing, below, path, depth + 1);
    }
}

void list_scratch(struct listing *listing) {
    listing->used = 0;
    listing->whole = true;
    *listing->text = 0;
    int top = open(TOP, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (top >= 0)
        list_below(listing, top, "", 0);
    if (!listing->whole)
        listing->used = 0;
}
