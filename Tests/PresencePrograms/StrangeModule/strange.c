// A PAM module that performs the action named in its first argument. Many actions are faults of
// broken modules.
#include <security/pam_appl.h>
#include <security/pam_modules.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int tell(pam_handle_t *handle, int style, const char *text, char **answer) {
    const struct pam_conv *conversation = NULL;
    const void *item = NULL;
    if (pam_get_item(handle, PAM_CONV, &item) != PAM_SUCCESS || !item) return PAM_SYSTEM_ERR;
    conversation = item;
    struct pam_message message = {style, text};
    const struct pam_message *messages = &message;
    struct pam_response *answers = NULL;
    int result = conversation->conv(1, &messages, &answers, conversation->appdata_ptr);
    if (result != PAM_SUCCESS) return result;
    char *given = answers ? answers->resp : NULL;
    if (answer) *answer = given;
    else free(given);
    free(answers);
    return PAM_SUCCESS;
}

static int expect(pam_handle_t *handle, int style, const char *question, const char *right) {
    char *given = NULL;
    int result = tell(handle, style, question, &given);
    if (result != PAM_SUCCESS) return result;
    int same = given && strcmp(given, right) == 0;
    free(given);
    return same ? PAM_SUCCESS : PAM_AUTH_ERR;
}

// Two questions in one call, as pam_conv(3) allows.
static int expect_both(pam_handle_t *handle) {
    const void *item = NULL;
    if (pam_get_item(handle, PAM_CONV, &item) != PAM_SUCCESS || !item) return PAM_SYSTEM_ERR;
    const struct pam_conv *conversation = item;
    struct pam_message questions[2] = {
        {PAM_PROMPT_ECHO_ON, "First: "}, {PAM_PROMPT_ECHO_OFF, "Second: "}};
    const struct pam_message *messages[2] = {&questions[0], &questions[1]};
    struct pam_response *answers = NULL;
    int result = conversation->conv(2, messages, &answers, conversation->appdata_ptr);
    if (result != PAM_SUCCESS) return result;
    int right = answers[0].resp && strcmp(answers[0].resp, "one") == 0
        && answers[1].resp && strcmp(answers[1].resp, "two") == 0;
    free(answers[0].resp);
    free(answers[1].resp);
    free(answers);
    return right ? PAM_SUCCESS : PAM_AUTH_ERR;
}

int pam_sm_authenticate(pam_handle_t *handle, int flags, int count, const char **arguments) {
    (void)flags;
    const char *what = count > 0 ? arguments[0] : "";
    if (strcmp(what, "asks-twice") == 0) {
        int result = expect(handle, PAM_PROMPT_ECHO_ON, "Name of the ship: ", "Unseen");
        if (result != PAM_SUCCESS) return result;
        return expect(handle, PAM_PROMPT_ECHO_OFF, "Word of the day: ", "herring");
    }
    if (strcmp(what, "asks-both") == 0) return expect_both(handle);
    if (strcmp(what, "asks-nothing-known") == 0) return expect(handle, 7, "?", "");
    if (strcmp(what, "hangs") == 0) {
        // The child process must not be left behind either.
        if (fork() == 0) for (;;) pause();
        // SIGTERM does not end the module.
        signal(SIGTERM, SIG_IGN);
        tell(handle, PAM_TEXT_INFO, "Place your finger on the reader", NULL);
        for (;;) pause();
    }
    if (strcmp(what, "complains-and-asks") == 0) {
        tell(handle, PAM_ERROR_MSG, "That is the wrong finger", NULL);
        return expect(handle, PAM_PROMPT_ECHO_OFF, "Password: ", "x");
    }
    if (strcmp(what, "crashes") == 0) {
        // A signal that is raised, not caused by a fault, waits if the caller blocks it.
        sigset_t none;
        sigemptyset(&none);
        sigprocmask(SIG_SETMASK, &none, NULL);
        raise(SIGSEGV);
    }
    if (strcmp(what, "leaves") == 0) exit(0);
    if (strcmp(what, "steers") == 0) {
        tell(handle, PAM_TEXT_INFO, "two\nlines\tand \033[2J\a \302\233 \342\200\256 \377", NULL);
        return expect(handle, PAM_PROMPT_ECHO_OFF, "\033]0;title\aPIN: ", "x");
    }
    if (strcmp(what, "floods") == 0)
        for (;;) if (tell(handle, PAM_TEXT_INFO, "buy more", NULL) != PAM_SUCCESS) return PAM_ABORT;
    if (strcmp(what, "shouts") == 0) {
        char *text = malloc(1 << 20);
        memset(text, 'A', (1 << 20) - 1);
        text[(1 << 20) - 1] = 0;
        for (;;) if (tell(handle, PAM_ERROR_MSG, text, NULL) != PAM_SUCCESS) return PAM_ABORT;
    }
    // Its output must not be mistaken for the result.
    if (strcmp(what, "prints") == 0) {
        static const char granted[] = {2, 0, 0, 0, 6, 1};
        for (int number = 0; number < 3; number++)
            if (write(number, granted, sizeof granted) < 0) continue;
        char byte;
        if (read(0, &byte, 1) > 0) return PAM_ABORT;
        return PAM_AUTH_ERR;
    }
    if (strcmp(what, "unavailable") == 0) return PAM_AUTHINFO_UNAVAIL;
    // Returns success if the environment is empty and core dumps are disabled.
    if (strcmp(what, "looks-around") == 0) {
        extern char **environ;
        if (environ && environ[0]) return PAM_AUTH_ERR;
        FILE *status = fopen("/proc/self/limits", "r");
        char line[256];
        int found = 0;
        while (status && fgets(line, sizeof line, status))
            if (strncmp(line, "Max core file size", 18) == 0) {
                int soft = -1, hard = -1;
                found = sscanf(line + 18, "%d %d", &soft, &hard) == 2 && soft == 0 && hard == 0;
            }
        return found ? PAM_SUCCESS : PAM_AUTH_ERR;
    }
    // Fails if it inherits an open regular file, which could hold a secret meant for its parent.
    if (strcmp(what, "looks-for-files") == 0) {
        struct stat facts;
        for (int number = 0; number < 1024; number++)
            if (fstat(number, &facts) == 0 && S_ISREG(facts.st_mode)) return PAM_AUTH_ERR;
    }
    return PAM_SUCCESS;
}

int pam_sm_setcred(pam_handle_t *handle, int flags, int count, const char **arguments) {
    (void)handle, (void)flags, (void)count, (void)arguments;
    return PAM_SUCCESS;
}

int pam_sm_acct_mgmt(pam_handle_t *handle, int flags, int count, const char **arguments) {
    (void)handle, (void)flags;
    if (count > 0 && strcmp(arguments[0], "expired") == 0) return PAM_ACCT_EXPIRED;
    return PAM_SUCCESS;
}
