// Tells ThreadSanitizer what happens in Synchronization.Mutex, for `make tsan` on Linux.
//
// The fast paths of Mutex are inlined into the code that uses it and are seen. Where two threads contend, taking and
// giving up the lock is done in libSynchronization and in the kernel; that library is not built with the sanitizer, so
// everything guarded by a contended lock looks like a race. This library is loaded before it, takes its slow paths,
// and says "acquired" and "released" where they do so. `Scripts/run-sanitized` shows each time that the false report is
// gone and that a real race is still found.
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

// Missing where a process without the sanitizer inherits the environment.
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
