/* reboot: asked without the numbers that make it meant, so nothing happens. */
#define CAPABILITY "syscall_reboot"
#include "_runner_c.h"

#include <linux/reboot.h>
#include <sys/syscall.h>
#include <unistd.h>

CHECK(refuses_wrong_first_numbers) {
    refuses(syscall(SYS_reboot, 0, 0, LINUX_REBOOT_CMD_CAD_OFF, NULL), EINVAL, "0 and 0");
}

CHECK(refuses_a_wrong_second_number) {
    refuses(syscall(SYS_reboot, LINUX_REBOOT_MAGIC1, 0, LINUX_REBOOT_CMD_CAD_OFF, NULL), EINVAL,
            "0 for the second");
}

CHECK(refuses_unknown_commands) {
    refuses(syscall(SYS_reboot, LINUX_REBOOT_MAGIC1, LINUX_REBOOT_MAGIC2, 0x12345678, NULL), EINVAL,
            "command 0x12345678");
}

CHECKS
