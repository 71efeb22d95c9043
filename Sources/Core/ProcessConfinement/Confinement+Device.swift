internal import CLinux
internal import Glibc
public import WatchwordSystem

// Confinement of a process that talks to a security chip or a security key, in steps: it opens the
// device, which needs files and libraries; then it gives up opening anything else, and only then
// exchanges messages with the device.
//
// A system call that is not on the list fails instead of killing the process, because the libraries
// make different calls for different devices.
extension Confinement {
    /// The first step, before anything else: the process will die with its parent, cannot be
    /// dumped, gains no privileges, and keeps only the standard streams.
    public static func prepareForDevice() throws(SystemCallFailure) { try beginLife() }

    /// A step for a library that searches for devices and reads from them while it opens them: from
    /// here on the process can open files and devices, but cannot start a program, create a socket,
    /// or make memory executable.
    ///
    /// The process must have one thread.
    public static func enterToOpenDevice(_ limits: Limits) throws(SystemCallFailure) {
        try tighten(limits)
        let filter = try SystemCallFilter(failingWith: EPERM)
        try allowComputation(filter)
        try allowOpenDevice(filter)
        for call: StaticString in [
            "open", "openat", "access", "faccessat", "faccessat2", "stat", "lstat", "newfstatat",
            "statx", "readlink", "readlinkat", "getdents64", "getcwd", "uname", "fstatfs", "statfs",
            // The calls that apply the next step.
            "seccomp", "prlimit64", "getrlimit", "setrlimit",
        ] {
            try filter.allow(call)
        }
        try filter.allow("prctl", when: .argument(0, is: Int32(LINUX_PR_SET_NO_NEW_PRIVS)))
        try filter.load()
    }

    /// The last step: from here on the process can compute, respond, and use the devices that are
    /// open, but cannot open a file, connect or start a program.
    ///
    /// Everything that it needs from the file system must already be loaded. The process must have
    /// one thread.
    ///
    /// - Parameter emulator: the TCP ports of the device if it is an emulator, which needs a new
    ///   connection for each message. Then the process can make TCP connections: before Linux 6.7
    ///   to any port, and to any address.
    public static func enterWithDevice(
        _ limits: Limits, emulator: [UInt16]?
    ) throws(SystemCallFailure) {
        try tighten(limits)
        if let emulator { try FileAccessLimit.limitConnections(to: emulator) }
        // poll(2) accepts at most this many descriptors.
        try limit(RLIMIT_NOFILE, to: 64)
        let filter = try SystemCallFilter(failingWith: EPERM)
        try allowComputation(filter)
        try allowOpenDevice(filter)
        if emulator != nil {
            for family in [AF_INET, AF_INET6] {
                try filter.allow(
                    "socket", when: .argument(0, is: family),
                    .socketType(argument: 1, is: Int32(SOCK_STREAM.rawValue)))
            }
            try filter.allow("connect")
        }
        try answerFileCalls(filter)
        try filter.load()
    }

    /// Allows the use of descriptors that are open.
    private static func allowOpenDevice(
        _ filter: borrowing SystemCallFilter
    ) throws(SystemCallFailure) {
        for call: StaticString in [
            "read", "write", "readv", "writev", "poll", "ppoll", "select", "pselect6",
            "fcntl", "flock", "lseek", "fstat", "close", "sendto", "recvfrom", "sendmsg", "recvmsg",
            "shutdown", "nanosleep", "clock_nanosleep", "mlock", "rt_sigaction",
        ] {
            try filter.allow(call)
        }
        // Only the requests of HID devices; others could type on a terminal.
        try filter.allow("ioctl", when: .request(of: UInt8(ascii: "H")))
    }
}
