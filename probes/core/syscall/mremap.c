/* mremap: mappings that shrink, grow, move, and are copied. */
#define CAPABILITY "syscall_mremap"
#include "_runner_c.h"

#include <stdint.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define PAGE ((size_t)sysconf(_SC_PAGESIZE))

#ifndef MREMAP_DONTUNMAP
#define MREMAP_DONTUNMAP 4
#endif

static char *pages(size_t count, int flags) {
    char *at = mmap(NULL, count * PAGE, PROT_READ | PROT_WRITE, flags | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED)
        blocked("mmap");
    return at;
}

static int there(const char *at) {
    int ends[2];
    works(pipe(ends), "pipe");
    return write(ends[1], at, 1) == 1;
}

static long move(char *at, size_t from, size_t to, int flags, char *where) {
    return syscall(SYS_mremap, at, from * PAGE, to * PAGE, flags, where);
}

CHECK(shrinks_in_place) {
    char *at = pages(3, MAP_PRIVATE);
    at[0] = 7;
    want(works(move(at, 3, 1, 0, NULL), "mremap") == (long)at, "it moved");
    want(at[0] == 7 && !there(at + PAGE), "it did not shrink");
}

CHECK(grows_in_place_where_there_is_room) {
    char *at = pages(4, MAP_PRIVATE);
    at[0] = 7;
    works(munmap(at + PAGE, 3 * PAGE), "munmap");
    want(works(move(at, 1, 4, 0, NULL), "mremap") == (long)at, "it moved");
    at[4 * PAGE - 1] = 1;
    want(at[0] == 7, "what was there is lost");
}

CHECK(refuses_to_grow_where_there_is_no_room) {
    char *at = pages(2, MAP_PRIVATE);
    works(mprotect(at + PAGE, PAGE, PROT_READ), "mprotect");
    refuses(move(at, 1, 2, 0, NULL), ENOMEM, "into another mapping");
}

CHECK(moves_where_there_is_no_room) {
    char *at = pages(2, MAP_PRIVATE);
    at[0] = 7;
    works(mprotect(at + PAGE, PAGE, PROT_READ), "mprotect");
    char *now = (char *)works(move(at, 1, 8, MREMAP_MAYMOVE, NULL), "mremap");
    want(now != at && now[0] == 7 && now[8 * PAGE - 1] == 0, "other bytes");
    want(!there(at), "the old place is still there");
}

CHECK(moves_where_it_is_asked) {
    char *at = pages(1, MAP_PRIVATE), *room = pages(1, MAP_PRIVATE);
    at[0] = 7;
    long now = works(move(at, 1, 1, MREMAP_MAYMOVE | MREMAP_FIXED, room), "mremap");
    want(now == (long)room && room[0] == 7 && !there(at), "not there");
}

CHECK(leaves_the_old_place_empty_if_asked) {
    char *at = pages(1, MAP_PRIVATE);
    at[0] = 7;
    char *now = (char *)works(move(at, 1, 1, MREMAP_MAYMOVE | MREMAP_DONTUNMAP, NULL), "mremap");
    want(now != at && now[0] == 7, "not moved");
    want(there(at) && at[0] == 0, "the old place is not empty");
}

CHECK(copies_shared_memory_from_size_0) {
    char *at = pages(1, MAP_SHARED);
    char *copy = (char *)works(move(at, 0, 1, MREMAP_MAYMOVE, NULL), "mremap");
    at[0] = 7;
    want(copy != at && copy[0] == 7, "not the same memory");
}

CHECK(refuses_an_address_inside_a_page) {
    char *at = pages(2, MAP_PRIVATE);
    refuses(move(at + 1, 1, 2, MREMAP_MAYMOVE, NULL), EINVAL, "from byte 1");
}

CHECK(refuses_unknown_flags) {
    refuses(move(pages(1, MAP_PRIVATE), 1, 2, 64, NULL), EINVAL, "flag 64");
}

CHECK(refuses_a_place_without_leave_to_move) {
    char *at = pages(2, MAP_PRIVATE);
    refuses(move(at, 1, 1, MREMAP_FIXED, at + PAGE), EINVAL, "MREMAP_FIXED alone");
}

CHECK(refuses_to_move_onto_itself) {
    char *at = pages(4, MAP_PRIVATE);
    int flags = MREMAP_MAYMOVE | MREMAP_FIXED;
    refuses(move(at, 2, 2, flags, at + PAGE), EINVAL, "onto its second page");
}

CHECK(refuses_to_end_at_size_0) {
    refuses(move(pages(1, MAP_PRIVATE), 1, 0, MREMAP_MAYMOVE, NULL), EINVAL, "to 0 bytes");
}

CHECK(refuses_memory_that_is_not_there) {
    char *at = pages(1, MAP_PRIVATE);
    works(munmap(at, PAGE), "munmap");
    refuses(move(at, 1, 2, MREMAP_MAYMOVE, NULL), EFAULT, "of nothing");
}

CHECKS
