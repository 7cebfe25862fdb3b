/* inotify_add_watch: events of files and directories. */
#define CAPABILITY "syscall_inotify_add_watch"
#include "_runner_c.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static char place[600], file[700], other[700], events[4096];
static int watcher;

static void tidy(void) {
    unlink(file);
    unlink(other);
    rmdir(place);
}

/* A directory with a file, and a watcher of nothing yet. */
static void prepare(void) {
    snprintf(place, sizeof place, "%s", scratch("inotify"));
    snprintf(file, sizeof file, "%s/file", place);
    snprintf(other, sizeof other, "%s/other", place);
    watcher = (int)works(inotify_init1(IN_NONBLOCK), "inotify_init1");
    works(mkdir(place, 0700), "mkdir");
    int fd = open(file, O_CREAT | O_WRONLY, 0600);
    if (fd < 0)
        tidy();
    works(fd, "open");
    close(fd);
}

static long watch(const char *path, unsigned mask) {
    return syscall(SYS_inotify_add_watch, watcher, path, mask);
}

/* The events so far: their masks, one after another, and the name of the last that has one. */
static int masks(unsigned *found, int room, char *name, unsigned *cookie) {
    int count = 0;
    ssize_t got = read(watcher, events, sizeof events);
    for (char *at = events; at < events + got && count < room;) {
        struct inotify_event *event = (struct inotify_event *)(void *)at;
        found[count++] = event->mask;
        if (event->len && name)
            snprintf(name, 64, "%s", event->name);
        if (cookie && event->cookie)
            *cookie = event->cookie;
        at += sizeof *event + event->len;
    }
    return count;
}

CHECK(reports_a_new_file_by_name) {
    unsigned found[8];
    char name[64] = "";
    prepare();
    long number = watch(place, IN_CREATE);
    close(open(other, O_CREAT | O_WRONLY, 0600));
    int count = masks(found, 8, name, NULL);
    tidy();
    want(number == 1, "the first watch is %ld", number);
    want(count == 1 && found[0] == IN_CREATE && !strcmp(name, "other"), "%d, %s", count, name);
}

CHECK(reports_opening_writing_and_closing) {
    unsigned found[8];
    prepare();
    watch(file, IN_OPEN | IN_MODIFY | IN_CLOSE_WRITE);
    int fd = open(file, O_WRONLY);
    ssize_t put = write(fd, "x", 1);
    close(fd);
    int count = masks(found, 8, NULL, NULL);
    tidy();
    want(put == 1 && count == 3, "%d events", count);
    want(found[0] == IN_OPEN && found[1] == IN_MODIFY && found[2] == IN_CLOSE_WRITE, "others");
}

CHECK(reports_reading) {
    unsigned found[8];
    char byte;
    prepare();
    int fd = open(file, O_RDWR);
    ssize_t put = pwrite(fd, "x", 1, 0);
    watch(file, IN_ACCESS);
    ssize_t got = read(fd, &byte, 1);
    int count = masks(found, 8, NULL, NULL);
    tidy();
    want(put == 1 && got == 1 && count == 1 && found[0] == IN_ACCESS, "%d events", count);
}

CHECK(pairs_both_sides_of_a_rename) {
    unsigned found[8], cookie = 0;
    char name[64];
    prepare();
    watch(place, IN_MOVE);
    int moved = rename(file, other), count = masks(found, 8, name, &cookie);
    tidy();
    want(moved == 0 && count == 2 && found[0] == IN_MOVED_FROM && found[1] == IN_MOVED_TO, "other");
    want(cookie != 0, "no cookie");
}

CHECK(reports_changed_attributes) {
    unsigned found[8];
    prepare();
    watch(file, IN_ATTRIB);
    chmod(file, 0640);
    int count = masks(found, 8, NULL, NULL);
    tidy();
    want(count == 1 && found[0] == IN_ATTRIB, "%d events", count);
}

CHECK(reports_directories_as_such) {
    unsigned found[8];
    prepare();
    watch(place, IN_CREATE | IN_DELETE);
    mkdir(other, 0700);
    rmdir(other);
    int count = masks(found, 8, NULL, NULL);
    tidy();
    want(count == 2 && found[0] == (IN_CREATE | IN_ISDIR), "%d events", count);
    want(found[1] == (IN_DELETE | IN_ISDIR), "not of the removal");
}

CHECK(ends_with_what_it_watched) {
    unsigned found[8];
    prepare();
    watch(place, IN_DELETE_SELF);
    tidy();
    int count = masks(found, 8, NULL, NULL);
    want(count == 2 && found[0] == IN_DELETE_SELF && found[1] == IN_IGNORED, "%d events", count);
}

CHECK(reports_once_if_asked) {
    unsigned found[8];
    prepare();
    watch(file, IN_ATTRIB | IN_ONESHOT);
    chmod(file, 0640);
    chmod(file, 0600);
    int count = masks(found, 8, NULL, NULL);
    tidy();
    want(count == 2 && found[0] == IN_ATTRIB && found[1] == IN_IGNORED, "%d events", count);
}

CHECK(changes_a_watch_or_adds_to_it) {
    unsigned found[8];
    prepare();
    long first = watch(file, IN_OPEN), second = watch(file, IN_ATTRIB | IN_MASK_ADD);
    close(open(file, O_RDONLY));
    chmod(file, 0640);
    int count = masks(found, 8, NULL, NULL);
    long third = watch(file, IN_ATTRIB);
    close(open(file, O_RDONLY));
    int after = masks(found, 8, NULL, NULL);
    tidy();
    want(first == second && second == third, "another number for the same file");
    want(count == 2, "%d events of two", count);
    want(after == 0, "an event that is watched no more");
}

CHECK(refuses_a_file_where_a_directory_is_asked_for) {
    prepare();
    long result = watch(file, IN_OPEN | IN_ONLYDIR);
    int number = errno;
    tidy();
    errno = number;
    refuses(result, ENOTDIR, "a file with IN_ONLYDIR");
}

CHECK(refuses_to_make_what_is_there_already) {
    prepare();
    watch(file, IN_OPEN);
    long result = watch(file, IN_ATTRIB | IN_MASK_CREATE);
    int number = errno;
    tidy();
    errno = number;
    refuses(result, EEXIST, "a second watch with IN_MASK_CREATE");
}

CHECK(refuses_a_name_that_is_not_there) {
    watcher = (int)works(inotify_init1(0), "inotify_init1");
    refuses(watch("/nonexistent", IN_OPEN), ENOENT, "no such file");
}

CHECK(refuses_to_watch_for_nothing) {
    watcher = (int)works(inotify_init1(0), "inotify_init1");
    refuses(watch("/", 0), EINVAL, "an empty mask");
}

CHECK(refuses_what_is_no_watcher) {
    watcher = -1;
    refuses(watch("/", IN_OPEN), EBADF, "-1");
    int ends[2];
    works(pipe(ends), "pipe");
    watcher = ends[0];
    refuses(watch("/", IN_OPEN), EINVAL, "a pipe");
}

CHECK(refuses_a_bad_address) {
    watcher = (int)works(inotify_init1(0), "inotify_init1");
    refuses(watch((void *)8, IN_OPEN), EFAULT, "a path at 8");
}

CHECKS
