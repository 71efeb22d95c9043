#pragma once
#include <stddef.h>

/// Asks the desktop portal for a screenshot and waits for it, at most this many milliseconds.
///
/// Writes the URI of the new file, with a null byte, to `uri`. Returns 0, or a negative error number:
/// -ECANCELED if the user or the desktop refused, -ETIMEDOUT after the timeout, -ELIBACC without
/// libsystemd.
int portal_screenshot(char *uri, size_t capacity, unsigned milliseconds);

/// What the login manager (logind) announces.
enum {
    /// A session of the user is locked.
    LOGIN_LOCK = 1,
    /// The machine is about to sleep.
    LOGIN_SLEEP = 2,
};

/// A connection to the system bus that listens to the login manager. No call waits for the bus.
typedef struct login_watch login_watch;

/// Connects, on behalf of this user. Returns 0, or a negative error number: -ELIBACC without
/// libsystemd.
int login_watch_open(login_watch **watch, unsigned user);
/// The descriptor to poll, or a negative error number.
int login_watch_file(login_watch *watch);
/// The events to poll for, of poll(2), or a negative error number.
int login_watch_events(login_watch *watch);
/// Handles some of what has arrived. Returns a combination of LOGIN_LOCK and LOGIN_SLEEP, or a negative
/// error number if the connection is lost.
int login_watch_process(login_watch *watch);
/// Lets the machine sleep; until then, the login manager delays that for a few seconds.
void login_watch_allow_sleep(login_watch *watch);
/// Closes the connection.
void login_watch_close(login_watch *watch);
