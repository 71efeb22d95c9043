internal import CLinux
internal import Glibc

// Confinement of a process that calls libraries whose system calls are not known in every detail.
extension Confinement {
    /// Allows threads, and makes attempts to open files fail.
    static func allowLibraries(_ filter: borrowing SystemCallFilter) throws(SystemCallFailure) {
        // Each memory arena reserves 64 MiB of the limited address space, and each thread would get
        // its own.
        linux_use_one_arena()
        // The kernel ignores or refuses the flags for namespaces of a new thread.
        try filter.allow("clone", when: .argument(0, has: Int32(LINUX_CLONE_THREAD)))
        // Its flags are in memory, where the filter cannot see them; glibc then uses clone.
        try filter.answer("clone3", with: ENOSYS)
        for call: StaticString in ["set_robust_list", "rseq", "sched_yield"] {
            try filter.allow(call)
        }
        // glibc installs this handler, which is for changing user IDs, before the first thread.
        try filter.allow("rt_sigaction", when: .argument(0, is: 33))
        // Names of threads, and the number of processors: libraries work without them.
        for call: StaticString in ["prctl", "sched_getaffinity"] {
            try filter.answer(call, with: EPERM)
        }
        try answerFileCalls(filter)
    }

    /// Makes attempts to open or inspect files fail instead of killing the process.
    static func answerFileCalls(_ filter: borrowing SystemCallFilter) throws(SystemCallFailure) {
        for call: StaticString in ["open", "openat", "access", "stat", "newfstatat", "readlink"] {
            try filter.answer(call, with: EACCES)
        }
    }
}
