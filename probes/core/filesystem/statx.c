/* Selected attributes of a file can be read (statx). */
#define CAPABILITY "filesystem_statx"
#include "_runner_c.h"

#include <fcntl.h>
#include <sys/stat.h>

static void exercise(void) {
    struct statx facts;
    if (statx(AT_FDCWD, "/usr", AT_SYMLINK_NOFOLLOW, STATX_BASIC_STATS, &facts) < 0)
        blocked("statx /usr");
    if (!S_ISDIR(facts.stx_mode))
        faulty("/usr is not a directory");
    allowed("/usr is a directory");
}

PROBE(exercise)
