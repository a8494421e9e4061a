/* The functions of Apple's <pthread.h> that shim.h of CHiredis uses. */
#pragma once
int pthread_setname_np(const char *name);
int pthread_main_np(void);
