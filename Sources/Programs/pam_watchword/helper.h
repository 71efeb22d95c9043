#pragma once
// `watchword-pam-remote`, which talks to a remote server.

#include "exchange.h"

struct helper {
    /// Where it reads the request, and writes the response.
    int messages;
    /// Where it says what went wrong.
    int complaints;
};

/// Starts the helper; false and a complaint on failure.
///
/// The host program notices nothing: it gets no SIGCHLD, and finds no child that it did not start. The helper
/// ends by its own deadline.
bool start_helper(const struct options *options, struct helper *helper, struct complaint *complaint);

/// Replaces the complaint by what the helper says, if it says anything.
void read_complaint(const struct helper *helper, struct complaint *complaint);

void end_helper(const struct helper *helper);
