/* epoll_ctl: what is watched, how, and what can't be. */
#define CAPABILITY "syscall_epoll_ctl"
#include "_runner_c.h"

#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <unistd.h>

static struct epoll_event in = {.events = EPOLLIN, .data.u64 = 1}, got;
static int set, ends[2];

/* A set, and a pipe with a byte in it. */
static void prepare(void) {
    set = (int)works(epoll_create1(0), "epoll_create1");
    works(pipe(ends), "pipe");
    works(write(ends[1], "x", 1), "write");
}

static long ctl(int operation, int fd, struct epoll_event *event) {
    return syscall(SYS_epoll_ctl, set, operation, fd, event);
}

CHECK(adds_a_descriptor_with_its_data) {
    struct epoll_event event = {.events = EPOLLIN, .data.u64 = 0x123456789abcdef0};
    prepare();
    works(ctl(EPOLL_CTL_ADD, ends[0], &event), "epoll_ctl");
    want(works(epoll_wait(set, &got, 1, 0), "epoll_wait") == 1, "not ready");
    want(got.events == EPOLLIN && got.data.u64 == 0x123456789abcdef0, "another event");
}

CHECK(removes_a_descriptor) {
    prepare();
    works(ctl(EPOLL_CTL_ADD, ends[0], &in), "epoll_ctl");
    works(ctl(EPOLL_CTL_DEL, ends[0], NULL), "epoll_ctl to remove");
    want(epoll_wait(set, &got, 1, 0) == 0, "still watched");
}

CHECK(changes_what_is_watched) {
    struct epoll_event out = {.events = EPOLLOUT, .data.u64 = 2};
    prepare();
    works(ctl(EPOLL_CTL_ADD, ends[1], &in), "epoll_ctl");
    want(epoll_wait(set, &got, 1, 0) == 0, "a writing end can be read");
    works(ctl(EPOLL_CTL_MOD, ends[1], &out), "epoll_ctl to change");
    want(epoll_wait(set, &got, 1, 0) == 1 && got.data.u64 == 2, "not changed");
}

CHECK(reports_once_by_edges) {
    struct epoll_event edge = {.events = EPOLLIN | EPOLLET};
    prepare();
    works(ctl(EPOLL_CTL_ADD, ends[0], &edge), "epoll_ctl");
    want(epoll_wait(set, &got, 1, 0) == 1, "no event");
    want(epoll_wait(set, &got, 1, 0) == 0, "reported twice");
    works(write(ends[1], "y", 1), "write");
    want(epoll_wait(set, &got, 1, 0) == 1, "a later event was not reported");
}

CHECK(reports_one_shot_until_armed_again) {
    struct epoll_event once = {.events = EPOLLIN | EPOLLONESHOT};
    prepare();
    works(ctl(EPOLL_CTL_ADD, ends[0], &once), "epoll_ctl");
    want(epoll_wait(set, &got, 1, 0) == 1, "no event");
    want(epoll_wait(set, &got, 1, 0) == 0, "reported twice");
    works(ctl(EPOLL_CTL_MOD, ends[0], &once), "epoll_ctl to arm");
    want(epoll_wait(set, &got, 1, 0) == 1, "not armed again");
}

CHECK(forgets_a_descriptor_that_is_closed) {
    prepare();
    works(ctl(EPOLL_CTL_ADD, ends[0], &in), "epoll_ctl");
    close(ends[0]);
    want(epoll_wait(set, &got, 1, 0) == 0, "still watched");
}

CHECK(watches_another_set) {
    int outer = (int)works(epoll_create1(0), "epoll_create1");
    prepare();
    works(ctl(EPOLL_CTL_ADD, ends[0], &in), "epoll_ctl");
    works(syscall(SYS_epoll_ctl, outer, EPOLL_CTL_ADD, set, &in), "epoll_ctl of a set");
    want(epoll_wait(outer, &got, 1, 0) == 1, "the inner set is not ready");
}

CHECK(refuses_to_add_twice) {
    prepare();
    works(ctl(EPOLL_CTL_ADD, ends[0], &in), "epoll_ctl");
    refuses(ctl(EPOLL_CTL_ADD, ends[0], &in), EEXIST, "epoll_ctl again");
}

CHECK(refuses_to_change_what_is_not_there) {
    prepare();
    refuses(ctl(EPOLL_CTL_MOD, ends[0], &in), ENOENT, "epoll_ctl to change");
    refuses(ctl(EPOLL_CTL_DEL, ends[0], &in), ENOENT, "epoll_ctl to remove");
}

CHECK(refuses_closed_descriptors) {
    prepare();
    refuses(ctl(EPOLL_CTL_ADD, -1, &in), EBADF, "epoll_ctl of -1");
    refuses(syscall(SYS_epoll_ctl, -1, EPOLL_CTL_ADD, ends[0], &in), EBADF, "epoll_ctl on -1");
}

CHECK(refuses_what_is_always_ready) {
    prepare();
    int file = (int)works(open("/", O_RDONLY), "open");
    refuses(ctl(EPOLL_CTL_ADD, file, &in), EPERM, "epoll_ctl of a directory");
}

CHECK(refuses_a_set_in_itself) {
    prepare();
    refuses(ctl(EPOLL_CTL_ADD, set, &in), EINVAL, "epoll_ctl of the set itself");
}

CHECK(refuses_a_circle_of_sets) {
    int outer = (int)works(epoll_create1(0), "epoll_create1");
    prepare();
    works(syscall(SYS_epoll_ctl, outer, EPOLL_CTL_ADD, set, &in), "epoll_ctl");
    refuses(ctl(EPOLL_CTL_ADD, outer, &in), ELOOP, "epoll_ctl of the outer set");
}

CHECK(refuses_what_is_no_set_and_no_operation) {
    prepare();
    refuses(syscall(SYS_epoll_ctl, ends[0], EPOLL_CTL_ADD, ends[1], &in), EINVAL, "on a pipe");
    refuses(ctl(9, ends[0], &in), EINVAL, "operation 9");
}

CHECK(refuses_a_bad_address) {
    prepare();
    refuses(ctl(EPOLL_CTL_ADD, ends[0], (void *)8), EFAULT, "epoll_ctl, the event at 8");
}

CHECKS
