/* personality: the execution domain, asked and changed. */
#define CAPABILITY "syscall_personality"
#include "_runner_c.h"

#include <sys/personality.h>
#include <sys/syscall.h>
#include <unistd.h>

#define QUERY 0xffffffffUL

CHECK(reports_the_domain) {
    want((works(syscall(SYS_personality, QUERY), "personality") & PER_MASK) == PER_LINUX,
         "not Linux");
}

CHECK(changes_nothing_when_asked) {
    long first = syscall(SYS_personality, QUERY);
    want(syscall(SYS_personality, QUERY) == first, "another answer");
}

CHECK(gives_the_former_domain_when_set) {
    works(syscall(SYS_personality, PER_LINUX), "personality PER_LINUX");
    want(works(syscall(SYS_personality, PER_LINUX), "personality") == PER_LINUX, "not Linux");
}

static void asks(void) {
    _exit(syscall(SYS_personality, QUERY) == PER_LINUX ? 0 : 1);
}

CHECK(is_inherited) {
    works(syscall(SYS_personality, PER_LINUX), "personality PER_LINUX");
    want(end_of(child_that(asks)) == 0, "the child has another");
}

#ifdef __x86_64__
#include <string.h>
#include <sys/utsname.h>

CHECK(of_32_bits_changes_the_machines_name) {
    struct utsname name;
    works(syscall(SYS_personality, PER_LINUX32), "personality PER_LINUX32");
    want(syscall(SYS_personality, QUERY) == PER_LINUX32, "it was not kept");
    works(uname(&name), "uname");
    want(strcmp(name.machine, "i686") == 0, "the machine is %s", name.machine);
}
#endif

CHECKS
