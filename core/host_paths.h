/* Checks whether a path that the guest did not find exists on the host. */
#ifndef WARDIAN_HOST_PATHS_H
#define WARDIAN_HOST_PATHS_H


void host_home(const char *home); /* the caller's home, which the guest's home stands for */
int look_on_host(const char *path); /* 0: it exists; else the errno */

#endif
