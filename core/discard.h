/* Removes a directory on behalf of a caller that was killed. */
#ifndef WARDIAN_DISCARD_H
#define WARDIAN_DISCARD_H

void discard_remember(const char *path); /* opened early, while its path still leads to it */
void discard_tree(void);

#endif
