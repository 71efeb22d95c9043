#pragma once
#include <stddef.h>
#include <stdint.h>

/// Asks the desktop portal for a screenshot and waits for it, at most this many milliseconds.
///
/// Writes the URI of the new file, with a null byte, to `uri`. Returns 0, or a negative error number:
/// -ECANCELED if the user or the desktop refused, -ETIMEDOUT after the timeout, -ELIBACC without
/// libsystemd.
int portal_screenshot(char *uri, size_t capacity, unsigned milliseconds);

/// Writes the names of the fingers of a user that are enrolled with any reader, each with a line feed,
/// and a null byte to `text`. fprintd may take this many milliseconds for each of its answers.
///
/// Returns 0, or a negative error number: -ELIBACC without libsystemd, -E2BIG for too many readers or
/// names.
int enrolled_fingers(const char *user, char *text, size_t capacity, unsigned milliseconds);

/// What the login manager (logind) announces.
enum {
    /// A session of a user is locked; `login_watch_locked_user` returns the user.
    LOGIN_LOCK = 1,
    /// The machine is about to sleep.
    LOGIN_SLEEP = 2,
    /// A session of an unknown user is locked.
    LOGIN_LOCK_UNKNOWN = 4,
};

/// The number of seats with an active session of this user, or a negative error number: -ELIBACC
/// without libsystemd.
int login_active_seats(uint32_t user);

/// A connection to the system bus that listens to the login manager. No call waits for the bus.
typedef struct login_watch login_watch;

/// Connects. Returns 0, or a negative error number: -ELIBACC without libsystemd.
int login_watch_open(login_watch **watch);
/// The descriptor to poll, or a negative error number.
int login_watch_file(login_watch *watch);
/// The events to poll for, of poll(2), or a negative error number.
int login_watch_events(login_watch *watch);
/// Handles some of what has arrived. Returns a combination of the values above, or a negative error
/// number if the connection is lost.
int login_watch_process(login_watch *watch);
/// Removes one of the users whose session was locked. Returns 0 if there is none, and 1 otherwise.
int login_watch_locked_user(login_watch *watch, uint32_t *user);
/// Lets the machine sleep; until then, the login manager delays that for a few seconds.
void login_watch_allow_sleep(login_watch *watch);
/// Closes the connection.
void login_watch_close(login_watch *watch);
