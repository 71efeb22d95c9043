#include "helper.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/// The path in the package: a fixed path in root's folders, so that only root can choose the program.
static const char program[] = "/usr/libexec/watchword/watchword-pam-remote";

/// A copy of this process, without the handlers that libraries register, and without a signal to the parent
/// when it ends. It may only make system calls: another thread of this process may have held any lock.
static long copy_process(void) {
    return syscall(SYS_clone, 0L, 0L, 0L, 0L, 0L);
}

/// Runs in the second copy, and becomes the helper.
static void become_helper(int messages, int complaints, const char *const *arguments) {
    static const char *const environment[] = {"PATH=/usr/bin:/bin", "LC_ALL=C.UTF-8", NULL};
    struct sigaction standard = {.sa_handler = SIG_DFL};
    for (int signal = 1; signal < NSIG; signal++) sigaction(signal, &standard, NULL);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    // Move the sockets away from the standard streams, one of which the host may have closed.
    int input = fcntl(messages, F_DUPFD, 3), errors = fcntl(complaints, F_DUPFD, 3);
    if (dup2(input, 0) < 0 || dup2(input, 1) < 0 || dup2(errors, 2) < 0) _exit(6);
    if (close_range(3, ~0U, 0) != 0 || chdir("/") != 0 || setsid() < 0) _exit(6);
    // `su` and similar programs run as root on behalf of a user. The functions of the C library would wait for
    // the threads of the original process.
    if (geteuid() == 0 &&
        (syscall(SYS_setgroups, 0, NULL) != 0 || syscall(SYS_setresgid, 0, 0, 0) != 0 ||
         syscall(SYS_setresuid, 0, 0, 0) != 0))
        _exit(6);
    execve(program, (char *const *)arguments, (char *const *)environment);
    static const char missing[] = "watchword-pam-remote is not installed";
    if (write(2, missing, sizeof missing - 1) < 0) _exit(6);
    _exit(6);
}

/// Copies the process twice, and lets the first copy end, so that the helper is not our child.
static bool start(int messages, int complaints, const char *const *arguments) {
    // No handler of the host may run in a copy.
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    long first = copy_process();
    if (first == 0) {
        long second = copy_process();
        if (second == 0) become_helper(messages, complaints, arguments);
        _exit(second > 0 ? 0 : 6);
    }
    int failure = errno, status = 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    errno = failure;
    if (first < 0) return false;
    while (waitpid((pid_t)first, &status, __WALL) < 0)
        if (errno != EINTR) return false;
    errno = EAGAIN;
    return status == 0;
}

bool start_helper(const struct options *options, struct helper *helper, struct complaint *complaint) {
    char timeout[16];
    snprintf(timeout, sizeof timeout, "%u", options->timeout);
    const char *const given[][2] = {
        {"--timeout", timeout},      {"--server", options->server}, {"--key", options->key},
        {"--ca", options->ca},       {"--realm", options->realm},
    };
    const char *arguments[2 + 2 * sizeof given / sizeof given[0]] = {"watchword-pam-remote"};
    for (size_t index = 0, count = 1; index < sizeof given / sizeof given[0]; index++) {
        if (!given[index][1]) continue;
        arguments[count++] = given[index][0];
        arguments[count++] = given[index][1];
    }

    int messages[2], complaints[2];
    bool is_started = false;
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, messages) == 0) {
        if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, complaints) == 0) {
            *helper = (struct helper){messages[0], complaints[0]};
            is_started = start(messages[1], complaints[1], arguments);
            close(complaints[1]);
            if (!is_started) close(complaints[0]);
        }
        close(messages[1]);
        if (!is_started) close(messages[0]);
    }
    if (!is_started)
        snprintf(complaint->text, sizeof complaint->text, "cannot start watchword-pam-remote: %m");
    return is_started;
}

void read_complaint(const struct helper *helper, struct complaint *complaint) {
    char text[longest_complaint];
    ssize_t count = recv(helper->complaints, text, sizeof text - 1, MSG_DONTWAIT);
    if (count <= 0) return;
    while (count > 0 && text[count - 1] == '\n') count--;
    for (ssize_t index = 0; index < count; index++)
        complaint->text[index] = text[index] >= ' ' && text[index] <= '~' ? text[index] : '?';
    complaint->text[count] = 0;
}

void end_helper(const struct helper *helper) {
    close(helper->messages);
    close(helper->complaints);
}
