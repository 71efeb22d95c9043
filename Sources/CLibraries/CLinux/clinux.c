#include "CLinux.h"

#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/fsuid.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/socket.h>
#include <sys/timex.h>
#include <time.h>
#include <unistd.h>

_Static_assert(LINUX_PR_SET_DUMPABLE == PR_SET_DUMPABLE, "prctl operation");
_Static_assert(LINUX_PR_SET_NO_NEW_PRIVS == PR_SET_NO_NEW_PRIVS, "prctl operation");
_Static_assert(LINUX_PR_SET_PDEATHSIG == PR_SET_PDEATHSIG, "prctl operation");

_Static_assert(LINUX_CLONE_THREAD == CLONE_THREAD, "clone flag");

void linux_use_one_arena(void) { mallopt(M_ARENA_MAX, 1); }

void linux_keep_freed_memory(void) {
    // The largest threshold that mallopt accepts.
    mallopt(M_MMAP_THRESHOLD, 32 << 20);
    mallopt(M_TRIM_THRESHOLD, 1 << 30);
}

int linux_prctl(int operation, unsigned long argument) {
    return prctl(operation, argument, 0UL, 0UL, 0UL);
}

int linux_clock_is_synchronized(void) {
    struct timex facts = {0};
    int state = adjtimex(&facts);
    if (state < 0) return -1;
    return state != TIME_ERROR && !(facts.status & STA_UNSYNC);
}

long linux_clock_error(void) {
    struct timex facts = {0};
    int state = adjtimex(&facts);
    return state < 0 ? -1 : facts.maxerror;
}

int linux_signal_file(const int *signals, int count) {
    sigset_t set;
    sigemptyset(&set);
    for (int index = 0; index < count; index++)
        if (sigaddset(&set, signals[index]) != 0) return -1;
    return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

int linux_next_signal(int descriptor) {
    struct signalfd_siginfo facts;
    ssize_t count = read(descriptor, &facts, sizeof facts);
    if (count == sizeof facts) return (int)facts.ssi_signo;
    if (count < 0 && errno == EAGAIN) return 0;
    return -1;
}

void linux_close_from(int lowest) { closefrom(lowest); }

int linux_spawn_close_from(void *actions, int lowest) {
    return posix_spawn_file_actions_addclosefrom_np(actions, lowest);
}

int linux_spawn_change_folder(void *actions, const char *path) {
    return posix_spawn_file_actions_addchdir_np(actions, path);
}

const short linux_spawn_own_session = POSIX_SPAWN_SETSID;

int linux_accept(int listener) {
    return accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
}

int linux_peer(int socket, unsigned *user, int *process) {
    struct ucred facts;
    socklen_t size = sizeof facts;
    if (getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &facts, &size) != 0) return -1;
    *user = facts.uid;
    *process = facts.pid;
    return 0;
}

int linux_has_received(int socket) {
    char byte;
    struct iovec part = {.iov_base = &byte, .iov_len = 1};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
    return recvmsg(socket, &message, MSG_PEEK | MSG_DONTWAIT) > 0;
}

// Room for a control message with the maximum number of descriptors.
typedef union {
    struct cmsghdr header;
    char bytes[CMSG_SPACE(LINUX_MOST_FILES * sizeof(int))];
} file_message;

int linux_send_files(int socket, unsigned char byte, const int *files, int count) {
    if (count < 0 || count > LINUX_MOST_FILES) {
        errno = EINVAL;
        return -1;
    }
    struct iovec part = {.iov_base = &byte, .iov_len = 1};
    file_message control;
    memset(&control, 0, sizeof control);
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
    if (count > 0) {
        size_t size = (size_t)count * sizeof *files;
        message.msg_control = control.bytes;
        message.msg_controllen = CMSG_SPACE(size);
        struct cmsghdr *header = CMSG_FIRSTHDR(&message);
        header->cmsg_level = SOL_SOCKET;
        header->cmsg_type = SCM_RIGHTS;
        header->cmsg_len = CMSG_LEN(size);
        memcpy(CMSG_DATA(header), files, size);
    }
    ssize_t sent;
    do sent = sendmsg(socket, &message, MSG_NOSIGNAL);
    while (sent < 0 && errno == EINTR);
    return sent == 1 ? 0 : -1;
}

int linux_receive_files(int socket, unsigned char *byte, int *files) {
    struct iovec part = {.iov_base = byte, .iov_len = 1};
    file_message control;
    struct msghdr message = {
        .msg_iov = &part, .msg_iovlen = 1, .msg_control = control.bytes,
        .msg_controllen = sizeof control.bytes};
    int count = 0;
    for (int index = 0; index < LINUX_MOST_FILES; index++) files[index] = -1;
    ssize_t received;
    do received = recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
    while (received < 0 && errno == EINTR);
    if (received < 0) return -1;
    for (struct cmsghdr *header = CMSG_FIRSTHDR(&message); header != NULL;
         header = CMSG_NXTHDR(&message, header)) {
        if (header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS) continue;
        // The room for control messages also limits the number of descriptors.
        size_t size = header->cmsg_len - CMSG_LEN(0);
        memcpy(files + count, CMSG_DATA(header), size);
        count += (int)(size / sizeof *files);
    }
    return (int)received;
}

int linux_pipe(int *reading, int *writing) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) return -1;
    *reading = ends[0];
    *writing = ends[1];
    return 0;
}

int linux_exchange(int folder, const char *name, int other_folder, const char *other) {
    return renameat2(folder, name, other_folder, other, RENAME_EXCHANGE);
}

int linux_wait_for_post(void *semaphore, long milliseconds) {
    struct timespec end;
    // Every Linux has CLOCK_MONOTONIC; the call cannot fail with a valid address.
    clock_gettime(CLOCK_MONOTONIC, &end);
    long nanoseconds = end.tv_nsec + milliseconds % 1000 * 1000000;
    end.tv_sec += milliseconds / 1000 + nanoseconds / 1000000000;
    end.tv_nsec = nanoseconds % 1000000000;
    return sem_clockwait(semaphore, CLOCK_MONOTONIC, &end);
}

unsigned long linux_usable_size(void *block) { return malloc_usable_size(block); }

void linux_discard_stderr(void) {
    // Without a function for it, the stream discards what is written.
    FILE *discarding = fopencookie(NULL, "w", (cookie_io_functions_t){0});
    if (discarding) stderr = discarding;
}

int linux_open_process(int process) { return (int)syscall(SYS_pidfd_open, process, 0U); }

int linux_access_files_as(unsigned user, unsigned group) {
    // glibc's setgroups changes all threads.
    if (syscall(SYS_setgroups, 0, NULL) != 0) return -1;
    setfsgid(group);
    setfsuid(user);
    // These two report no error; with an invalid ID, they return the one in use.
    if ((unsigned)setfsgid((gid_t)-1) != group || (unsigned)setfsuid((uid_t)-1) != user) {
        errno = EPERM;
        return -1;
    }
    return 0;
}
