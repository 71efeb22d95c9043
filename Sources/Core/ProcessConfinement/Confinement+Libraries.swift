internal import CLinux
internal import Glibc
internal import WatchwordSystem

// Confinement of a process that calls libraries whose system calls are not known in every detail.
extension Confinement {
    /// Allows threads, and makes attempts to open files fail.
    static func allowLibraries(_ filter: borrowing SystemCallFilter) throws(SystemCallFailure) {
        // Each memory arena reserves 64 MiB of the limited address space, and each thread would get
        // its own.
        linux_use_one_arena()
        // For a new thread, the kernel ignores or refuses the flags that create namespaces.
        try filter.allow("clone", when: .argument(0, has: Int32(LINUX_CLONE_THREAD)))
        // The flags of clone3 are in memory, where the filter cannot see them. After ENOSYS, glibc
        // uses clone.
        try filter.answer("clone3", with: ENOSYS)
        for call: StaticString in ["set_robust_list", "rseq", "sched_yield"] {
            try filter.allow(call)
        }
        // For ``ProcessorTime/limited(to:_:)``. The limit cannot exceed its maximum, which cannot be
        // raised.
        try filter.allow(
            "prlimit64", when: .argument(0, is: 0),
            .argument(1, is: Int32(RLIMIT_CPU.rawValue)))
        // Before it starts the first thread, glibc installs this signal's handler, for changing
        // user IDs.
        try filter.allow("rt_sigaction", when: .argument(0, is: 33))
        // Libraries use these calls to name threads and to count processors; they work without
        // them.
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
