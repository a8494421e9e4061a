#pragma once
#include <hiredis/hiredis.h>

/* What Swift cannot import: functions that differ between systems, and variadic ones. */
#ifdef __APPLE__
#include <pthread.h>
static inline void errand_redis_name_thread(const char *name) { pthread_setname_np(name); }
static inline int errand_redis_is_main_thread(void) { return pthread_main_np(); }
#else
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>
/* At most 15 bytes. */
static inline void errand_redis_name_thread(const char *name) { prctl(PR_SET_NAME, name, 0, 0, 0); }
static inline int errand_redis_is_main_thread(void) { return syscall(SYS_gettid) == getpid(); }
#endif
