#pragma once
// The module's options, as they stand in a PAM stack.

#include <stdbool.h>

struct options {
    /// Lets users who never enrolled pass.
    bool nullok;
    bool try_first_pass;
    /// Tells the person why a code was denied.
    bool reasons;
    /// The number of digits in a code that is typed after a password; 0 if codes are typed alone.
    unsigned digits;
    /// The time limit for the server's response, in seconds.
    unsigned timeout;
    const char *prompt;
    /// NULL: the service name that the program gives to libpam.
    const char *service;
    /// NULL: the standard socket.
    const char *socket;
    /// A remote server; NULL: the server of this machine.
    const char *server;
    const char *key, *ca, *realm;
};

/// Reads the options; returns the first wrong option, or NULL.
const char *read_options(int count, const char *const *arguments, struct options *options);
