internal import Glibc
public import WatchwordSystem

// Confinement of a process that talks to one untrusted server, in two steps: it reads its task and
// connects, which needs many system calls; then it gives up these calls, and only then receives
// data.
extension Confinement {
    /// The first step, before anything else: the process will die with its parent, cannot be
    /// dumped, gains no privileges, and keeps only the standard streams.
    public static func prepareToConnect() throws(SystemCallFailure) { try beginLife() }

    /// The second step: from here on the process can compute, respond, and communicate over
    /// `connection`, but cannot make another connection or open a file.
    ///
    /// Everything that it needs from the file system must already be loaded. The process must have
    /// one thread.
    ///
    /// - Throws: the failed step, as ``enter(_:)`` does. Nothing must be sent over the connection
    ///   in that case.
    public static func enter(
        _ limits: Limits, connection: borrowing FileDescriptor
    ) throws(SystemCallFailure) {
        // Load the time zone now, so that comparing times does not read /etc/localtime later.
        tzset()
        try tighten(limits)
        // poll(2) accepts at most this many descriptors; no more can be opened anyway.
        try limit(RLIMIT_NOFILE, to: 16)
        let filter = try SystemCallFilter()
        try allowComputation(filter)
        try allowConnection(filter, over: connection.number)
        try filter.load()
    }

    private static func allowConnection(
        _ filter: borrowing SystemCallFilter, over number: Int32
    ) throws(SystemCallFailure) {
        for call: StaticString in [
            "sendto", "sendmsg", "recvfrom", "recvmsg", "getsockname", "getpeername", "getsockopt",
            "shutdown",
        ] {
            try filter.allow(call, when: .argument(0, is: number))
        }
        // The only socket option that TLS libraries set.
        try filter.allow(
            "setsockopt", when: .argument(0, is: number), .argument(1, is: Int32(IPPROTO_TCP)),
            .argument(2, is: TCP_NODELAY))
        for command in [F_GETFL, F_SETFL] {
            try filter.allow(
                "fcntl", when: .argument(0, is: number), .argument(1, is: command))
        }
        // `mlock`: buffers with secrets are also kept out of swap here.
        for call: StaticString in ["poll", "ppoll", "close", "mlock"] { try filter.allow(call) }
        // libcurl 7.88 calls connect again on a socket that is already connected. The call is
        // reported as successful without being executed: with another address, it would connect
        // elsewhere.
        try filter.answer("connect", with: 0, when: .argument(0, is: number))
        // Libraries look for configuration and translations when they report an error.
        try answerFileCalls(filter)
    }
}
