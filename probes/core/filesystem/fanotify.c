/* Whole filesystems can be watched (fanotify). */
#define CAPABILITY "filesystem_fanotify"
#include "_runner_c.h"

#include <fcntl.h>
#include <sys/fanotify.h>

static void exercise(void) {
    if (fanotify_init(FAN_CLASS_NOTIF | FAN_REPORT_FID | FAN_CLOEXEC, O_RDONLY) < 0)
        blocked("fanotify_init");
    allowed("made a fanotify group");
}

PROBE(exercise)
