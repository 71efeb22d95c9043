#include "CLinux.h"

// The Swift runtime finds the arguments of a statically linked program by reading /proc/self/maps before
// `main`, which takes 5 % of the time of `watchword totp`. The linker uses this function instead of the
// runtime's, with the arguments that the C library passes to constructors.
//
// If a later runtime has no such function, this one is not called, and the runtime reads the file again. If
// both are linked, the linker reports a duplicate symbol. If the function returns its result differently, the
// stage `release` of Scripts/test fails.
char **_swift_stdlib_getUnsafeArgvArgc(int *count);

static char *no_values[] = {0};
static char **values = no_values;
static int value_count = 0;

__attribute__((constructor)) static void keep_arguments(int count, char **arguments) {
    if (!arguments) return;
    values = arguments;
    value_count = count;
}

char **_swift_stdlib_getUnsafeArgvArgc(int *count) {
    *count = value_count;
    return values;
}
