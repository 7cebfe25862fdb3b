/* ustat: a file system by its device number. */
#define CAPABILITY "syscall_ustat"
#include "_runner_c.h"

#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifdef SYS_ustat
/* As the kernel has it; no header has it any more. */
struct answer {
    int free_blocks;
    unsigned long free_files;
    char name[12];
};

CHECK(reports_how_much_is_free) {
    struct answer got = {.free_blocks = -1};
    struct stat root;
    works(stat("/", &root), "stat /");
    works(syscall(SYS_ustat, (unsigned)root.st_dev, &got), "ustat");
    want(got.free_blocks >= 0, "%d blocks are free", got.free_blocks);
}

CHECK(refuses_a_device_that_is_not_there) {
    struct answer got;
    refuses(syscall(SYS_ustat, 0xfffffff0u, &got), EINVAL, "a device of no file system");
}
#else
CHECK(is_of_other_machines) {
    unavailable("this architecture has no ustat");
}
#endif

CHECKS
