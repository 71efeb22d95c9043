// A program that signs somebody in, as sshd does, and looks for what a PAM module must not do to it.
//
//     host FOLDER SERVICE USER [ANSWER…]
//
// FOLDER has the service files. The answers are for the module's prompts, in order; a few are not answers:
// @null, @none, @error, @left, @again, @long, @empty, @items. The output has one line for each prompt, message and
// line of the log, the result, and each surprise. With HOST_ALARM=1, signals interrupt the module all the time, and
// with HOST_REPEATS=N, everything happens N times.
#include <dirent.h>
#include <errno.h>
#include <security/pam_appl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

static char **answers;
static int answer_count, next_answer;
static pam_handle_t *pam;
static volatile sig_atomic_t children;

static void child_ended(int signal) {
    (void)signal;
    children++;
}

static void interrupted(int signal) { (void)signal; }

/// Instead of the C library's, so that the log can be read.
void __syslog_chk(int priority, int flag, const char *format, ...);
static void log_line(const char *format, va_list arguments) {
    printf("log: ");
    vprintf(format, arguments);
    printf("\n");
}
void syslog(int priority, const char *format, ...) {
    (void)priority;
    va_list arguments;
    va_start(arguments, format);
    log_line(format, arguments);
    va_end(arguments);
}
void __syslog_chk(int priority, int flag, const char *format, ...) {
    (void)priority, (void)flag;
    va_list arguments;
    va_start(arguments, format);
    log_line(format, arguments);
    va_end(arguments);
}

/// Stores an answer; returns the conversation's result.
static int answer(char **place) {
    const char *text = next_answer < answer_count ? answers[next_answer++] : "@error";
    if (strcmp(text, "@null") == 0) return PAM_SUCCESS;
    if (strcmp(text, "@error") == 0) return PAM_CONV_ERR;
    if (strcmp(text, "@left") == 0) {
        *place = strdup("123456");
        return PAM_CONV_ERR;
    }
    if (strcmp(text, "@again") == 0) return PAM_CONV_AGAIN;
    if (strcmp(text, "@items") == 0) {
        pam_set_item(pam, PAM_USER, "another");
        pam_set_item(pam, PAM_RHOST, "another");
        text = "123456";
    }
    if (strcmp(text, "@empty") == 0) text = "";
    if (strcmp(text, "@long") == 0) {
        *place = malloc(100001);
        memset(*place, '7', 100000);
        (*place)[100000] = 0;
    } else {
        *place = strdup(text);
    }
    return PAM_SUCCESS;
}

static int converse(
    int count, const struct pam_message **messages, struct pam_response **responses, void *unused) {
    (void)unused;
    *responses = calloc((size_t)count, sizeof **responses);
    for (int index = 0; index < count; index++) {
        int style = messages[index]->msg_style;
        bool asks = style == PAM_PROMPT_ECHO_OFF || style == PAM_PROMPT_ECHO_ON;
        printf("%s: %s\n", asks ? "prompt" : style == PAM_ERROR_MSG ? "error" : "info", messages[index]->msg);
        if (!asks) continue;
        if (next_answer < answer_count && strcmp(answers[next_answer], "@none") == 0) {
            free(*responses);
            *responses = NULL;
            return PAM_SUCCESS;
        }
        int result = answer(&(*responses)[index].resp);
        if (result == PAM_SUCCESS) continue;
        // A careless program leaves the answers behind.
        if ((*responses)[index].resp) return result;
        free(*responses);
        *responses = NULL;
        return result;
    }
    return PAM_SUCCESS;
}

static int open_files(void) {
    DIR *folder = opendir("/proc/self/fd");
    int count = 0;
    while (readdir(folder)) count++;
    closedir(folder);
    return count;
}

static void authenticate(const char *folder, const char *service, const char *user) {
    struct pam_conv conversation = {converse, NULL};
    pam = NULL;
    int result = pam_start_confdir(service, user, &conversation, folder, &pam);
    if (result == PAM_SUCCESS) {
        const char *host = getenv("HOST_REMOTE");
        if (host) pam_set_item(pam, PAM_RHOST, host);
        result = pam_authenticate(pam, getenv("HOST_SILENT") ? PAM_SILENT : 0);
        if (result == PAM_SUCCESS) result = pam_setcred(pam, PAM_ESTABLISH_CRED);
    }
    printf("result: %d %s\n", result, pam_strerror(pam, result));
    pam_end(pam, result);
}

int main(int count, char **arguments) {
    if (count < 4) return 2;
    answers = arguments + 4;
    answer_count = count - 4;
    signal(SIGCHLD, child_ended);
    if (getenv("HOST_ALARM")) {
        // Without SA_RESTART: every call is interrupted.
        struct sigaction action = {.sa_handler = interrupted};
        sigaction(SIGALRM, &action, NULL);
        struct itimerval often = {{0, 2000}, {0, 2000}};
        setitimer(ITIMER_REAL, &often, NULL);
    }
    sigset_t before, after;
    sigprocmask(SIG_SETMASK, NULL, &before);
    struct sigaction pipe_before, pipe_after, child_after;
    sigaction(SIGPIPE, NULL, &pipe_before);
    // A file that a child must not inherit.
    dup(1);
    int files = open_files();
    const char *repeats = getenv("HOST_REPEATS");
    for (int left = repeats ? atoi(repeats) : 1; left > 0; left--) {
        next_answer = 0;
        authenticate(arguments[1], arguments[2], arguments[3]);
    }
    sigprocmask(SIG_SETMASK, NULL, &after);
    sigaction(SIGPIPE, NULL, &pipe_after);
    sigaction(SIGCHLD, NULL, &child_after);
    if (memcmp(&before, &after, sizeof before) != 0) printf("surprise: the signal mask changed\n");
    if (pipe_before.sa_handler != pipe_after.sa_handler) printf("surprise: SIGPIPE is handled differently\n");
    if (child_after.sa_handler != child_ended) printf("surprise: SIGCHLD is handled differently\n");
    if (children > 0) printf("surprise: SIGCHLD arrived\n");
    if (waitpid(-1, NULL, WNOHANG | __WALL) != -1 || errno != ECHILD) printf("surprise: there is a child\n");
    if (open_files() != files) printf("surprise: a file stays open\n");
    return 0;
}
