// Signs people in with a PAM service, whose file is in FOLDER, as sshd does.
//
//     logins FOLDER SERVICE PID USER CODE…  one after another; prints "login NANOSECONDS": the processor time of each,
//                                           in this process, and in the server PID unless it is 0
//     logins FOLDER SERVICE all USER CODE…  all at once, each in its own process; prints "accepted COUNT", and
//                                           "answered NANOSECONDS": the time until the last one is answered
#include <security/pam_appl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static const char *folder, *service;
static int people;
static char **names_and_codes;

// All processes come to the gate with their codes, and pass it together.
static bool has_gate;
static int arrivals[2], gate[2];

static double now(clockid_t clock) {
    struct timespec time;
    if (clock_gettime(clock, &time) != 0) exit(1);
    return time.tv_sec * 1e9 + time.tv_nsec;
}

// Of this process, if `process` is 0.
static double processor_time(pid_t process) {
    clockid_t clock;
    if (clock_getcpuclockid(process, &clock) != 0) exit(1);
    return now(clock);
}

static void pass_gate(void) {
    char byte;
    if (write(arrivals[1], "", 1) != 1) exit(1);
    close(arrivals[1]);
    if (read(gate[0], &byte, 1) != 0) exit(1);
}

static int converse(int count, const struct pam_message **messages, struct pam_response **responses, void *code) {
    if (has_gate) pass_gate();
    *responses = calloc(count, sizeof **responses);
    if (*responses == NULL) exit(1);
    for (int index = 0; index < count; index++)
        if (messages[index]->msg_style == PAM_PROMPT_ECHO_OFF || messages[index]->msg_style == PAM_PROMPT_ECHO_ON)
            (*responses)[index].resp = strdup(code);
    return PAM_SUCCESS;
}

static bool signs_in(int person) {
    const char *name = names_and_codes[2 * person];
    struct pam_conv conversation = {converse, names_and_codes[2 * person + 1]};
    pam_handle_t *pam = NULL;
    int result = pam_start_confdir(service, name, &conversation, folder, &pam);
    if (result == PAM_SUCCESS) result = pam_authenticate(pam, 0);
    if (result != PAM_SUCCESS) fprintf(stderr, "%s, %s: %s\n", service, name, pam_strerror(pam, result));
    pam_end(pam, result);
    return result == PAM_SUCCESS;
}

static void one_after_another(pid_t server) {
    double before = processor_time(0) + (server ? processor_time(server) : 0);
    for (int person = 0; person < people; person++)
        if (!signs_in(person)) exit(1);
    // The server may still have work to do for the last one.
    usleep(100000);
    double after = processor_time(0) + (server ? processor_time(server) : 0);
    printf("login %.0f\n", (after - before) / people);
}

static void all_at_once(void) {
    if (pipe(arrivals) != 0 || pipe(gate) != 0) exit(1);
    has_gate = true;
    for (int person = 0; person < people; person++) {
        pid_t process = fork();
        if (process < 0) exit(1);
        if (process > 0) continue;
        close(gate[1]);
        _exit(signs_in(person) ? 0 : 1);
    }
    close(arrivals[1]);
    char byte;
    for (int person = 0; person < people; person++)
        if (read(arrivals[0], &byte, 1) != 1) exit(1);
    double start = now(CLOCK_MONOTONIC);
    close(gate[1]);
    int accepted = 0, status;
    while (wait(&status) > 0) accepted += status == 0;
    printf("accepted %d\nanswered %.0f\n", accepted, now(CLOCK_MONOTONIC) - start);
}

int main(int count, char **arguments) {
    if (count < 6 || count % 2 != 0) return 2;
    folder = arguments[1];
    service = arguments[2];
    people = (count - 4) / 2;
    names_and_codes = arguments + 4;
    if (strcmp(arguments[3], "all") == 0) all_at_once();
    else one_after_another(atoi(arguments[3]));
    return 0;
}
