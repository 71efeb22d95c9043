// What Swift's runtime would do before `main`, and none of our programs has a use for.
//
// Linked into a program, the runtime reads /proc/self/maps to find the arguments, and looks for its crash
// reporter in eight places to make ready for calling it, which our programs then undo first thing. Each of the
// two is a file of its own in the runtime's archive. What others need of them is here: so the linker
// takes neither, and a program that crashes has no handler at all that could print its memory.
//
// The names are those of Swift 6.3. A runtime that needs more of the two files brings them back, and the
// linker then says that there are doubles. They are hidden, so that a runtime that is a shared library,
// as in debug builds, keeps its own.
#include <stdbool.h>

#define HIDDEN __attribute__((visibility("hidden")))

HIDDEN char **_swift_stdlib_getUnsafeArgvArgc(int *count);
HIDDEN void _swift_stdlib_overrideUnsafeArgvArgc(char **values, int count);
HIDDEN bool _swift_backtrace_isThunkFunction(const char *name);

static int argument_count;
static char **arguments;

// glibc hands the arguments to what runs before `main`.
__attribute__((constructor)) static void keep_arguments(int count, char **values) {
    _swift_stdlib_overrideUnsafeArgvArgc(values, count);
}

char **_swift_stdlib_getUnsafeArgvArgc(int *count) {
    *count = argument_count;
    return arguments;
}

void _swift_stdlib_overrideUnsafeArgvArgc(char **values, int count) {
    arguments = values;
    argument_count = count;
}

// Only the crash reporter asks; the runtime names it to have the reporter linked in.
bool _swift_backtrace_isThunkFunction(const char *name) {
    (void)name;
    return false;
}

// 88 bytes, of which the runtime reads whether crashes are reported: all zeros say no.
HIDDEN unsigned char _swift_backtraceSettings[88] __attribute__((aligned(16)));
