/* name_to_handle_at: a name for a file apart from its path. */
#define CAPABILITY "syscall_name_to_handle_at"
#include "_runner_c.h"

#include <fcntl.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

typedef struct {
    struct file_handle head;
    unsigned char room[MAX_HANDLE_SZ];
} handle_t;

static int mount_id;

static handle_t handle_of(const char *path) {
    handle_t handle = {.head.handle_bytes = MAX_HANDLE_SZ};
    works_if_offered(syscall(SYS_name_to_handle_at, AT_FDCWD, path, &handle, &mount_id, 0),
                     EOPNOTSUPP, "name_to_handle_at");
    return handle;
}

CHECK(names_a_file_always_alike) {
    file_with("file", "");
    works(link("file", "other"), "link");
    handle_t one = handle_of("file"), two = handle_of("other");
    want(one.head.handle_bytes > 0, "it is empty");
    want(memcmp(&one, &two, sizeof one) == 0, "two names of one file differ");
}

CHECK(names_another_file_differently) {
    file_with("file", "");
    file_with("other", "");
    handle_t one = handle_of("file"), two = handle_of("other");
    want(memcmp(&one, &two, sizeof one) != 0, "two files have one name");
}

CHECK(reports_how_much_room_it_needs) {
    handle_t handle = {0};
    file_with("file", "");
    handle_of("file");
    refuses(syscall(SYS_name_to_handle_at, AT_FDCWD, "file", &handle, &mount_id, 0), EOVERFLOW,
            "without room");
    want(handle.head.handle_bytes > 0, "no size returned");
}

CHECK(refuses_what_is_not_there) {
    handle_t handle = {.head.handle_bytes = MAX_HANDLE_SZ};
    own_directory();
    refuses(syscall(SYS_name_to_handle_at, AT_FDCWD, "no", &handle, &mount_id, 0), ENOENT, "no");
}

CHECK(refuses_unknown_flags) {
    handle_t handle = {.head.handle_bytes = MAX_HANDLE_SZ};
    refuses(syscall(SYS_name_to_handle_at, AT_FDCWD, "/", &handle, &mount_id, 1 << 30), EINVAL,
            "with 1 << 30");
}

CHECKS
