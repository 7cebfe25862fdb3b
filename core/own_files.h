/* Files of its own processes in /proc that a guest may write to. */
#ifndef WARDIAN_OWN_FILES_H
#define WARDIAN_OWN_FILES_H

#include <linux/seccomp.h>
#include <stdbool.h>

struct subject;

void own_files_attach(int writable_proc); /* the guest's, below the one that it sees */
int own_file_open(const struct subject *about); /* -1: it is none of these */
/* Becomes the return value of the waiting call; closed here. False: the call is not answered yet. */
bool own_file_hand_over(int listener, const struct seccomp_notif *request, int fd, const struct subject *about);

#endif
