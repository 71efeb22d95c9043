#pragma once
// Wrappers for Linux calls that Swift does not import, mostly because glibc declares them only under
// _GNU_SOURCE. No system struct that depends on _GNU_SOURCE may appear in this header: it would clash
// with Swift's own Glibc module.

#include <stdint.h>

/// prctl(2) with one argument; -1 and errno on failure.
int linux_prctl(int operation, unsigned long argument);
enum { LINUX_PR_SET_DUMPABLE = 4, LINUX_PR_SET_NO_NEW_PRIVS = 38, LINUX_PR_SET_PDEATHSIG = 1 };

enum { LINUX_CLONE_THREAD = 0x10000 };

/// mallopt(3) with M_ARENA_MAX 1: all threads allocate from one arena.
void linux_use_one_arena(void);

/// mallopt(3): freed blocks of up to 32 MiB are kept for later allocations and not returned to the kernel.
void linux_keep_freed_memory(void);

/// 1 if the kernel reports its clock as synchronised, 0 if it does not, -1 if the status is unavailable.
int linux_clock_is_synchronized(void);

/// The maximum error of the kernel's clock in microseconds; -1 if it is unavailable.
long linux_clock_error(void);

/// A non-blocking, close-on-exec descriptor from which the given signals, blocked by the caller, are read.
int linux_signal_file(const int *signals, int count);
/// The next pending signal of that descriptor; 0 if none is pending, -1 and errno on failure.
int linux_next_signal(int descriptor);

/// closefrom(3): closes every descriptor from `lowest` upward, whatever their number.
void linux_close_from(int lowest);

/// posix_spawn_file_actions_addclosefrom_np(3): in the child, closes every descriptor from `lowest` upward.
/// The actions are a posix_spawn_file_actions_t; returns an error number.
int linux_spawn_close_from(void *actions, int lowest);

/// pipe2(2) with O_CLOEXEC; -1 and errno on failure.
int linux_pipe(int *reading, int *writing);

/// renameat2(2) with RENAME_EXCHANGE: exchanges the two names in one step; -1 and errno on failure.
int linux_exchange(int folder, const char *name, int other_folder, const char *other);

/// sem_clockwait(3) with CLOCK_MONOTONIC, which cannot be set: waits for a post of the sem_t for at most
/// this many milliseconds; -1 and errno if none arrives.
int linux_wait_for_post(void *semaphore, long milliseconds);

/// malloc_usable_size(3): the number of bytes of an allocated block; 0 for NULL.
unsigned long linux_usable_size(void *block);

/// posix_spawn_file_actions_addchdir_np(3): in the child, changes the working folder.
/// The actions are a posix_spawn_file_actions_t; returns an error number.
int linux_spawn_change_folder(void *actions, const char *path);
/// POSIX_SPAWN_SETSID: the started program gets its own session.
extern const short linux_spawn_own_session;

/// accept4(2) with SOCK_CLOEXEC and SOCK_NONBLOCK; -1 and errno on failure.
int linux_accept(int listener);
/// SO_PEERCRED: the user and the process at the other end of a Unix socket; -1 and errno on failure.
int linux_peer(int socket, unsigned *user, int *process);
/// Whether something has arrived at a socket that was not read yet.
int linux_has_received(int socket);
/// The maximum number of open files in one message.
enum { LINUX_MOST_FILES = 2 };
/// sendmsg(2) with SCM_RIGHTS: one byte and this many open files; fails with EPIPE without a signal.
/// Returns 0, or -1 and errno.
int linux_send_files(int socket, unsigned char byte, const int *files, int count);
/// recvmsg(2) with MSG_CMSG_CLOEXEC: one byte, and the open files that came with it; `files` has room
/// for LINUX_MOST_FILES, and entries without a file are -1. Returns 1, 0 at the end, or -1 and errno.
int linux_receive_files(int socket, unsigned char *byte, int *files);

/// The kernel's Landlock version, or -1 and errno.
int linux_landlock_version(void);
/// A new Landlock rule set that handles every access that the version supports; -1 and errno on
/// failure.
int linux_landlock_make(int version);
/// Lets the rule set's process read (and with `writes` also change) everything below the open file or
/// folder; -1 and errno on failure.
int linux_landlock_allow(int rules, int version, int file, int writes);
/// A new rule set that handles only access to files, or only TCP connections (version 4); -1 and errno
/// on failure.
int linux_landlock_make_for_files(int version);
int linux_landlock_make_for_connecting(int version);
/// Lets the rule set's process do everything with the file or folder at a path and with what is below
/// it, unless it is a symbolic link; -1 and errno on failure.
int linux_landlock_allow_all(int rules, int version, const char *path);
/// Lets the rule set's process connect to a TCP port; -1 and errno on failure.
int linux_landlock_allow_port(int rules, uint16_t port);
/// Applies the rule set to this thread and those that it starts; -1 and errno on failure.
int linux_landlock_enter(int rules);

/// From here on, what C code prints to `stderr` is discarded.
void linux_discard_stderr(void);

/// A camera that sends images (V4L2), opened by linux_camera_start.
typedef struct {
    int descriptor;
    /// The size of an image in pixels, and the size of a line in bytes.
    unsigned width, height, line;
    /// Whether each image is a JPEG file; otherwise each image is YUYV, two bytes per pixel.
    int sends_jpeg;
    unsigned count;
    void *buffers[4];
    unsigned long sizes[4];
} linux_camera;

/// Starts the camera that the descriptor refers to. Returns 0, or -1 and sets errno: ENOTTY or
/// EINVAL if it is not a camera. The caller still owns the descriptor, and must call
/// linux_camera_stop in either case.
int linux_camera_start(int descriptor, linux_camera *camera);
/// Returns the index of the next image's buffer, or -1 and sets errno: EAGAIN if there is no
/// image yet. `size` is its number of bytes.
int linux_camera_next(linux_camera *camera, unsigned long *size);
/// Returns a buffer to the camera. Returns 0, or -1 and sets errno.
int linux_camera_return(linux_camera *camera, int buffer);
void linux_camera_stop(linux_camera *camera);

/// setfsuid(2), setfsgid(2) and setgroups(2) for the calling thread alone: from then on, the kernel
/// decides about its access to files as for this user and group, without other groups. Returns 0, or
/// -1 and errno.
int linux_access_files_as(unsigned user, unsigned group);

/// pidfd_open(2): a close-on-exec descriptor that is readable once the process has ended; -1 and errno
/// on failure.
int linux_open_process(int process);
