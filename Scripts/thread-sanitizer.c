// Tells the thread sanitizer about the two places where Swift's `Mutex` synchronises threads unseen.
//
// An uncontended `Mutex` is an atomic instruction in our own code, which the sanitizer sees. A contended one
// waits in Swift's library, which is not instrumented: without this, whatever a contended `Mutex` guards is
// reported as a race. Scripts/sanitize links this file into every program, where it is found before the library.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <sanitizer/tsan_interface.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

// `Synchronization._MutexHandle._lockSlow(_:)` and `_unlockSlow()`, as Swift mangles them.
#define LOCK "$s15Synchronization12_MutexHandleV9_lockSlowyys6UInt32VF"
#define UNLOCK "$s15Synchronization12_MutexHandleV11_unlockSlowyyF"
#define SWIFT __attribute__((swiftcall))
#define SELF __attribute__((swift_context)) void *self

static void *original(const char *name) {
    void *found = dlsym(RTLD_NEXT, name);
    if (!found) {
        fprintf(stderr, "thread-sanitizer.c: Swift's library no longer has %s\n", name);
        abort();
    }
    return found;
}

SWIFT void lock_slow(uint32_t thread, SELF) __asm__(LOCK);
SWIFT void lock_slow(uint32_t thread, SELF) {
    typedef SWIFT void Lock(uint32_t thread, SELF);
    ((Lock *)original(LOCK))(thread, self);
    __tsan_acquire(self);
}

SWIFT void unlock_slow(SELF) __asm__(UNLOCK);
SWIFT void unlock_slow(SELF) {
    typedef SWIFT void Unlock(SELF);
    __tsan_release(self);
    ((Unlock *)original(UNLOCK))(self);
}
