internal import Glibc

// The life of a process that talks to one stranger over the network, in two steps: it reads what it is
// to do and connects, which needs much of the system; then it gives all that up, and only then listens.
extension Confinement {
    /// The first step, to be taken before anything else: the process will die with its parent, can't be
    /// dumped, gains no privileges, and holds the standard streams only.
    public static func prepareToConnect() throws(SystemCallFailure) { try beginLife() }

    /// The second step: from here on the process can think, answer, and talk over `connection`; it can
    /// make no other connection and open no file.
    ///
    /// What it needs from the file system must be loaded by now. The process must have one thread.
    ///
    /// - Throws: the step that failed, as ``enter(_:)`` does. Nothing may be said over the connection then.
    public static func enter(
        _ limits: Limits, connection: borrowing FileDescriptor
    ) throws(SystemCallFailure) {
        // Times are compared without a look at /etc/localtime later.
        tzset()
        try tighten(limits)
        // poll(2) takes no more descriptors than this; none can be opened all the same.
        try limit(RLIMIT_NOFILE, to: 16)
        let filter = try SystemCallFilter()
        try allowThinking(filter)
        try allowTalking(filter, over: connection.number)
        try filter.load()
    }

    private static func allowTalking(
        _ filter: borrowing SystemCallFilter, over number: Int32
    ) throws(SystemCallFailure) {
        for call: StaticString in [
            "sendto", "sendmsg", "recvfrom", "recvmsg", "getsockname", "getpeername", "getsockopt",
            "shutdown",
        ] {
            try filter.allow(call, when: .argument(0, is: number))
        }
        // Of all the knobs of a socket the one that TLS libraries turn.
        try filter.allow(
            "setsockopt", when: .argument(0, is: number), .argument(1, is: Int32(IPPROTO_TCP)),
            .argument(2, is: TCP_NODELAY))
        for command in [F_GETFL, F_SETFL] {
            try filter.allow(
                "fcntl", when: .argument(0, is: number), .argument(1, is: command))
        }
        // `mlock`: what holds a secret is kept out of swap here, too.
        for call: StaticString in ["poll", "ppoll", "close", "mlock"] { try filter.allow(call) }
        // libcurl 7.88 connects a socket once more when it was told that it is connected. The call is
        // answered without being made: made with another address, it would lead elsewhere.
        try filter.answer("connect", with: 0, when: .argument(0, is: number))
        // Libraries look for configuration and translations on their way into an error.
        for call: StaticString in ["open", "openat", "access", "stat", "newfstatat", "readlink"] {
            try filter.answer(call, with: EACCES)
        }
    }
}
