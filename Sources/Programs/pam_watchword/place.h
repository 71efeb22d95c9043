#pragma once

/// The fault of a socket's place; NULL if it and all folders above it belong to root, and only
/// root can replace them.
const char *fault_of_socket(const char *path);
