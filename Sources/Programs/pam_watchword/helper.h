#pragma once
// `watchword-pam-remote`, which talks to a remote server.

#include "exchange.h"

struct helper {
    /// The helper reads the request here, and writes the response.
    int messages;
    /// The helper writes error messages here.
    int complaints;
};

/// Starts the helper; false and a complaint on failure.
///
/// The host program is not affected: it gets no SIGCHLD, and finds no child that it did not start. The helper
/// ends by its own deadline.
bool start_helper(const struct options *options, struct helper *helper, struct complaint *complaint);

/// Replaces the complaint by the helper's error message, if there is one.
void read_complaint(const struct helper *helper, struct complaint *complaint);

void end_helper(const struct helper *helper);
