/* A watched directory reports a new file (inotify). */
#define CAPABILITY "filesystem_inotify"
#include "_runner_c.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

static void exercise(void) {
    char directory[512], path[600], events[1024];
    strcpy(directory, scratch("watched"));
    snprintf(path, sizeof path, "%s/new", directory);
    int watcher = inotify_init1(IN_CLOEXEC);
    if (watcher < 0)
        blocked("inotify_init1");
    if (mkdir(directory, 0700) < 0)
        blocked("mkdir %s", directory);
    int watch = inotify_add_watch(watcher, directory, IN_CREATE), number = errno;
    close(open(path, O_CREAT | O_EXCL | O_WRONLY, 0600));
    ssize_t got = watch < 0 ? 0 : read(watcher, events, sizeof events);
    unlink(path);
    rmdir(directory);
    if (watch < 0)
        blocked_with(number, "inotify_add_watch");
    if (got <= 0 || strcmp(((struct inotify_event *)events)->name, "new") != 0)
        faulty("no word of the new file");
    allowed("a new file was reported");
}

PROBE(exercise)
