/* The mount calls of Linux 5.2 and later, with descriptors in place of paths. */
#ifndef WARDIAN_MOUNT_CALLS_H
#define WARDIAN_MOUNT_CALLS_H

#include <linux/mount.h>
#include <stdint.h>
#include <sys/mount.h>
#include <sys/syscall.h>

#ifndef SYS_mount_setattr
#define SYS_mount_setattr 442
#endif
#ifndef SYS_open_tree
#define SYS_open_tree 428
#define SYS_move_mount 429
#define SYS_fsopen 430
#define SYS_fsconfig 431
#define SYS_fsmount 432
#endif
#ifndef AT_RECURSIVE
#define AT_RECURSIVE 0x8000
#endif
#ifndef MOUNT_ATTR_IDMAP
#define MOUNT_ATTR_IDMAP 0x00100000
#endif


/* Own name: <linux/mount.h> and <sys/mount.h> of some libcs both define struct mount_attr. */
struct attributes {
    uint64_t attr_set, attr_clr, propagation, userns_fd;
};
int mount_setattr_at(int fd, unsigned flags, const struct attributes *attributes);

/* All but this end the run if they fail; `wall` is what could not be put up then. */
int mount_new(const char *type, const char *const options[][2], unsigned attributes, const char *wall);
int mount_detach(int dir, const char *name, const char *wall);
void mount_attach(int mount, int dir, const char *name, const char *wall, const char *path);
void make_read_only(int mount, unsigned flags, const char *wall, const char *what);

#endif
