// libsystemd is loaded only when it is needed: the agent's process with the keys must not contain it,
// and few runs of the other programs use it.
#include "bus.h"

#include <dlfcn.h>
#include <stddef.h>

const bus_functions *bus_library(void) {
    static bus_functions functions;
    static int state = 0;  // 1: loaded; -1: not installed
    if (state == 0) {
        state = -1;
        void *library = dlopen("libsystemd.so.0", RTLD_NOW | RTLD_LOCAL);
        if (library == NULL) return NULL;
#define BUS_FUNCTION(name) \
    if ((functions.name = (__typeof__(name) *)dlsym(library, #name)) == NULL) return NULL;
        BUS_FUNCTIONS(BUS_FUNCTION)
#undef BUS_FUNCTION
        state = 1;
    }
    return state > 0 ? &functions : NULL;
}
