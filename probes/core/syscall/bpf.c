/* bpf: maps in the kernel, written and read; programs that are refused. */
#define CAPABILITY "syscall_bpf"
#include "_runner_c.h"

#include <linux/bpf.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static union bpf_attr ask;

static long bpf(int command, size_t size) {
    return syscall(SYS_bpf, command, &ask, size);
}

static int map(void) {
    memset(&ask, 0, sizeof ask);
    ask.map_type = BPF_MAP_TYPE_ARRAY;
    ask.key_size = ask.value_size = 4;
    ask.max_entries = 1;
    return (int)works(bpf(BPF_MAP_CREATE, sizeof ask), "BPF_MAP_CREATE");
}

CHECK(keeps_a_value_in_a_map) {
    int key = 0, value = 42, fd = map();
    memset(&ask, 0, sizeof ask);
    ask.map_fd = (unsigned)fd;
    ask.key = (unsigned long)&key;
    ask.value = (unsigned long)&value;
    works(bpf(BPF_MAP_UPDATE_ELEM, sizeof ask), "BPF_MAP_UPDATE_ELEM");
    value = 0;
    works(bpf(BPF_MAP_LOOKUP_ELEM, sizeof ask), "BPF_MAP_LOOKUP_ELEM");
    want(value == 42, "it holds %d", value);
}

CHECK(refuses_an_empty_map) {
    memset(&ask, 0, sizeof ask);
    ask.map_type = BPF_MAP_TYPE_ARRAY;
    refuses(bpf(BPF_MAP_CREATE, sizeof ask), EINVAL, "a map of nothing");
}

CHECK(refuses_unknown_commands) {
    memset(&ask, 0, sizeof ask);
    refuses(bpf(9999, sizeof ask), EINVAL, "command 9999");
}

CHECK(refuses_a_closed_descriptor) {
    memset(&ask, 0, sizeof ask);
    ask.map_fd = 999;
    refuses(bpf(BPF_MAP_LOOKUP_ELEM, sizeof ask), EBADF, "a map that is none");
}

CHECKS
