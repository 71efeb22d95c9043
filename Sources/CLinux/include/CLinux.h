#pragma once
// What glibc declares only under _GNU_SOURCE. No system struct that depends on _GNU_SOURCE may appear
// in this header: it would clash with Swift's own Glibc module.

/// prctl(2) with one argument; -1 and errno on failure.
int linux_prctl(int operation, unsigned long argument);
enum { LINUX_PR_SET_DUMPABLE = 4, LINUX_PR_SET_NO_NEW_PRIVS = 38, LINUX_PR_SET_PDEATHSIG = 1 };

/// 1 when the kernel says that something keeps its clock right, 0 when it says not, -1 when it does not say.
int linux_clock_is_synchronized(void);

/// By how many microseconds the kernel's clock may be wrong; -1 when it does not say.
long linux_clock_error(void);

/// A non-blocking, close-on-exec descriptor from which the given signals, blocked by the caller, are read.
int linux_signal_file(const int *signals, int count);
/// The next waiting signal of that descriptor; 0 when none waits, -1 and errno on failure.
int linux_next_signal(int descriptor);

/// closefrom(3): closes every descriptor from `lowest` upward, whatever their number.
void linux_close_from(int lowest);

/// posix_spawn_file_actions_addclosefrom_np(3): in the child, closes every descriptor from `lowest` upward.
/// The actions are a posix_spawn_file_actions_t; returns an error number.
int linux_spawn_close_from(void *actions, int lowest);

/// pipe2(2) with O_CLOEXEC; -1 and errno on failure.
int linux_pipe(int *reading, int *writing);

/// renameat2(2) with RENAME_EXCHANGE: the two names change places in one step; -1 and errno on failure.
int linux_exchange(int folder, const char *name, int other_folder, const char *other);

/// sem_clockwait(3) by CLOCK_MONOTONIC, which nobody sets: waits for a post of the sem_t there, at most so
/// many milliseconds from now; -1 and errno when none came.
int linux_wait_for_post(void *semaphore, long milliseconds);
