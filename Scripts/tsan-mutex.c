// Makes the slow paths of Synchronization.Mutex visible to ThreadSanitizer, for `make tsan` on Linux.
//
// The fast paths of Mutex are inlined into instrumented code. When threads contend, the lock is acquired and released
// in libSynchronization and in the kernel. That library is not instrumented, so ThreadSanitizer reports accesses that
// a contended lock guards as races. This library is loaded first, wraps the slow paths, and reports "acquire" and
// "release" to ThreadSanitizer. `Scripts/run-sanitized` verifies in each run that the false report is gone and that a
// real race is still reported.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#define LOCK_SLOW "$s15Synchronization12_MutexHandleV9_lockSlowyys6UInt32VF"
#define UNLOCK_SLOW "$s15Synchronization12_MutexHandleV11_unlockSlowyyF"
#define TRY_LOCK_SLOW "$s15Synchronization12_MutexHandleV12_tryLockSlowSbyF"
#define SWIFT __attribute__((swiftcall))
#define SELF __attribute__((swift_context)) void *self

// Weak: a child process without the sanitizer inherits LD_PRELOAD too.
extern void __tsan_acquire(void *) __attribute__((weak));
extern void __tsan_release(void *) __attribute__((weak));

typedef SWIFT void LockSlow(uint32_t owner, SELF);
typedef SWIFT bool TryLockSlow(SELF);
typedef SWIFT void UnlockSlow(SELF);

static void *next(const char *name) {
    void *found = dlsym(RTLD_NEXT, name);
    if (!found) abort();
    return found;
}

SWIFT void lockSlow(uint32_t owner, SELF) __asm__(LOCK_SLOW);
SWIFT void lockSlow(uint32_t owner, SELF) {
    ((LockSlow *)next(LOCK_SLOW))(owner, self);
    if (__tsan_acquire) __tsan_acquire(self);
}

SWIFT bool tryLockSlow(SELF) __asm__(TRY_LOCK_SLOW);
SWIFT bool tryLockSlow(SELF) {
    bool isTaken = ((TryLockSlow *)next(TRY_LOCK_SLOW))(self);
    if (isTaken && __tsan_acquire) __tsan_acquire(self);
    return isTaken;
}

SWIFT void unlockSlow(SELF) __asm__(UNLOCK_SLOW);
SWIFT void unlockSlow(SELF) {
    if (__tsan_release) __tsan_release(self);
    ((UnlockSlow *)next(UNLOCK_SLOW))(self);
}
