/* The guest's /proc, private files and System V ipc, opened for the supervisor: each part that reads them
 * gets its own descriptors. */
#define _GNU_SOURCE
#include "fortify.h"
#include "views.h"
#include "limits.h"
#include "own_files.h"
#include "sight.h"
#include "tasks.h"

#include <fcntl.h>
#include <unistd.h>

void views_attach(const int *fds, size_t count) {
    struct guest_views views = {-1, -1, {-1, -1, -1}};
    int writable_proc = -1, mounts; /* the latter is held until we end */
    int *const places[] = {&views.proc, &views.root, &writable_proc, &mounts, &views.sysvipc[0], &views.sysvipc[1],
                           &views.sysvipc[2]};
    for (size_t i = 0; i < count && i < sizeof places / sizeof *places; i++)
        *places[i] = fds[i];
    /* What fsmount returns is O_PATH, and can't be listed. */
    int listable = openat(views.proc, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (listable >= 0) {
        close(views.proc);
        views.proc = listable;
    }
    limits_attach(&views);
    tasks_attach(views.proc);
    own_files_attach(writable_proc);
    sight_attach(views.root, views.proc);
}
