#pragma once

/// What is wrong with the place of a socket; NULL if it and all folders above it belong to root, and only
/// root can replace them.
const char *fault_of_socket(const char *path);
