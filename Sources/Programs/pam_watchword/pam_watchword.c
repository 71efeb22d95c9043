// A PAM module that asks a Watchword server about one-time passwords and recovery codes.
//
// It runs in other programs (sshd, sudo, screen lockers), so it has no state, starts no thread, installs no
// signal handler, and links only libpam and libc. pam_watchword.8 describes it.
#include "exchange.h"
#include "typed.h"

#include <pwd.h>
#include <security/pam_ext.h>
#include <security/pam_modules.h>
#include <security/pam_modutil.h>
#include <stdlib.h>
#include <string.h>
#include <syslog.h>

#define EXPORTED __attribute__((visibility("default")))

/// A login that is checked.
struct login {
    pam_handle_t *pam;
    struct options options;
    struct request request;
    /// A copy: while the program asks the person, it may replace the texts of the transaction.
    char user[longest_user + 1];
    bool is_silent;
};

/// A text of the transaction; empty if the program did not set it.
static const char *item(pam_handle_t *pam, int type) {
    const void *text = NULL;
    return pam_get_item(pam, type, &text) == PAM_SUCCESS && text ? text : "";
}

/// Sends the request; the verdict is *unavailable* if there is no response.
static struct response ask(struct login *login) {
    struct response response = {verdict_unavailable, reason_none, 0};
    struct complaint complaint = {""};
    login->request.service = login->options.service ? login->options.service : item(login->pam, PAM_SERVICE);
    login->request.host = item(login->pam, PAM_RHOST);
    if (!exchange(&login->options, &login->request, &response, &complaint))
        response = (struct response){verdict_unavailable, reason_none, 0};
    if (response.verdict == verdict_unavailable) pam_syslog(login->pam, LOG_ERR, "%s", complaint.text);
    return response;
}

/// Tells the person why the code was denied, if the server says so.
static void explain(const struct login *login, struct response response) {
    if (!login->options.reasons || login->is_silent) return;
    switch (response.reason) {
    case reason_none: break;
    case reason_replayed: pam_error(login->pam, "This code was used already; wait for the next one."); break;
    case reason_must_wait:
        pam_error(login->pam, "There were several wrong codes; try again in %u seconds.", response.seconds);
        break;
    case reason_locked: pam_error(login->pam, "Your codes are locked; ask an administrator."); break;
    case reason_malformed: pam_error(login->pam, "This is not a code."); break;
    }
}

static int verify(struct login *login, const char *text) {
    // Text that cannot be a code is not sent: it may be a password, with which sshd answers every prompt in its
    // method of that name. The server needs the same time to deny the question mark.
    bool is_code = is_like_code(text) && strlen(text) <= longest_code;
    login->request.operation = operation_verify;
    login->request.code = is_code ? text : "?";
    struct response response = ask(login);
    login->request.code = "";
    switch (response.verdict) {
    case verdict_accepted: return is_code ? PAM_SUCCESS : PAM_AUTH_ERR;
    case verdict_denied: explain(login, response); return PAM_AUTH_ERR;
    default: return PAM_AUTHINFO_UNAVAIL;
    }
}

/// Checks a text that somebody typed; with `forward_pass`, the part before the code becomes the password
/// of the next modules.
static int verify_typed(struct login *login, char *text) {
    if (login->options.digits == 0) return verify(login, text);
    char code[longest_code + 1] = "";
    ptrdiff_t start = start_of_code(text, login->options.digits);
    if (start >= 0) {
        strcpy(code, text + start);
        explicit_bzero(text + start, strlen(code));
    }
    // Pass the password on even if the code is wrong: a `required` module hides which of the two was wrong.
    // Without a password, the next modules ask for one.
    int result = pam_set_item(login->pam, PAM_AUTHTOK, *text ? text : NULL);
    if (result == PAM_SUCCESS) result = verify(login, code);
    explicit_bzero(code, sizeof code);
    return result;
}

/// Whether the text from an earlier module has the form that this module expects.
static bool is_usable(const char *text, unsigned digits) {
    return digits == 0 ? is_like_code(text) : start_of_code(text, digits) >= 0;
}

/// Whether an account could have this name.
static bool is_possible_name(const char *user) {
    size_t length = strlen(user);
    for (size_t index = 0; index < length; index++)
        if ((unsigned char)user[index] < ' ' || user[index] == 0x7f) return false;
    return length >= 1 && length <= longest_user;
}

static int authenticate(struct login *login) {
    const struct options *options = &login->options;
    const char *earlier = options->try_first_pass ? item(login->pam, PAM_AUTHTOK) : "";
    char *text = NULL;
    int result = PAM_SUCCESS;
    if (is_usable(earlier, options->digits)) {
        text = strdup(earlier);
        if (!text) return PAM_BUF_ERR;
    } else {
        const char *standard = options->digits ? "Password and one-time code: " : "One-time code: ";
        result = pam_prompt(
            login->pam, PAM_PROMPT_ECHO_OFF, &text, "%s", options->prompt ? options->prompt : standard);
    }
    if (result == PAM_SUCCESS && text) result = verify_typed(login, text);
    else result = result == PAM_CONV_AGAIN ? PAM_INCOMPLETE : PAM_CONV_ERR;
    // A conversation function that fails may have left a text, too.
    if (text) explicit_bzero(text, strlen(text));
    free(text);
    return result;
}

EXPORTED int pam_sm_authenticate(pam_handle_t *pam, int flags, int count, const char **arguments) {
    struct login login = {.pam = pam, .is_silent = ((unsigned)flags & PAM_SILENT) != 0};
    const char *wrong = read_options(count, arguments, &login.options);
    if (wrong) {
        pam_syslog(pam, LOG_ERR, "the option '%s' is wrong, missing or given twice; see pam_watchword(8)", wrong);
        return PAM_SERVICE_ERR;
    }
    const char *user = NULL;
    int result = pam_get_user(pam, &user, NULL);
    if (result != PAM_SUCCESS || !user) return result == PAM_CONV_AGAIN ? PAM_INCOMPLETE : PAM_CONV_ERR;
    // Some databases ignore case and domains: Alice must not pass as a different user than alice, who is enrolled.
    const struct passwd *account = pam_modutil_getpwnam(pam, user);
    if (account) user = account->pw_name;
    if (!is_possible_name(user)) return PAM_USER_UNKNOWN;
    strcpy(login.user, user);
    login.request = (struct request){
        .operation = operation_status,
        .wants_reasons = login.options.reasons,
        .user = login.user,
        .code = "",
    };
    if (login.options.nullok) {
        // Unknown users are asked about too, so that the time until the prompt does not reveal which users exist.
        switch (ask(&login).verdict) {
        case verdict_enrolled: break;
        case verdict_never_enrolled:
            if (account) return PAM_IGNORE;
            break;
        default: return PAM_AUTHINFO_UNAVAIL;
        }
    }
    return authenticate(&login);
}

/// There are no credentials to set; a failure here would end sessions that were granted.
EXPORTED int pam_sm_setcred(pam_handle_t *pam, int flags, int count, const char **arguments) {
    (void)pam, (void)flags, (void)count, (void)arguments;
    return PAM_SUCCESS;
}
