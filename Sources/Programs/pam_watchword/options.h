#pragma once
// The module's options, as they stand in a PAM stack.

#include <stdbool.h>

struct options {
    /// Lets users who never enrolled pass.
    bool nullok;
    bool try_first_pass;
    /// Tells the person why a code was denied.
    bool reasons;
    /// How many digits the codes have that are typed behind a password; 0 if they are typed alone.
    unsigned digits;
    /// Seconds.
    unsigned timeout;
    const char *prompt;
    /// NULL: what the program tells libpam.
    const char *service;
    /// NULL: the standard socket.
    const char *socket;
    /// A remote server; NULL: the server of this machine.
    const char *server;
    const char *key, *ca, *realm;
};

/// Reads the options; returns NULL, or the one that is wrong.
const char *read_options(int count, const char *const *arguments, struct options *options);
