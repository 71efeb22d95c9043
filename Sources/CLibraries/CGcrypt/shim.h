#pragma once
#include <gcrypt.h>

// gcry_control takes a variable number of arguments, which Swift cannot pass.
static inline gcry_error_t gcrypt_control(enum gcry_ctl_cmds command) {
    return gcry_control(command, 0);
}
