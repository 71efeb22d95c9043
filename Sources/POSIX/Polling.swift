internal import Glibc

/// Waits until one of several descriptors is readable or writable.
public enum Polling {
    /// A descriptor and the event to wait for.
    public struct Wish: Sendable {
        /// The descriptor's number.
        public let number: Int32
        /// Whether to wait until it is writable; otherwise until it is readable.
        public let isWriting: Bool

        /// Waits until `file` is readable; it must stay open during the wait.
        public static func reading(_ file: borrowing FileDescriptor) -> Wish {
            Wish(number: file.number, isWriting: false)
        }

        /// Waits until `file` is writable; it must stay open during the wait.
        public static func writing(_ file: borrowing FileDescriptor) -> Wish {
            Wish(number: file.number, isWriting: true)
        }

        var request: pollfd {
            pollfd(fd: number, events: Int16(isWriting ? POLLOUT : POLLIN), revents: 0)
        }
    }

    /// Waits for any of `wishes`, at most `milliseconds`; also returns when a descriptor has failed.
    ///
    /// - Returns: how many milliseconds went by, at most `milliseconds`: the time that this process was
    ///   stopped (Ctrl-Z) is not counted, since whoever is waited for was stopped with it.
    public static func wait(
        for wishes: [Wish], atMost milliseconds: Int
    ) throws(SystemCallFailure) -> Int {
        var requests = wishes.map(\.request)
        let start = monotonicMilliseconds()
        // An interruption is an answer like any other: the caller looks at its descriptors again.
        let result = unsafe poll(&requests, nfds_t(requests.count), Int32(clamping: milliseconds))
        guard result >= 0 || errno == EINTR else {
            throw SystemCallFailure(call: "poll", number: errno)
        }
        return min(max(monotonicMilliseconds() - start, 0), milliseconds)
    }

    private static func monotonicMilliseconds() -> Int {
        var now = timespec()
        // CLOCK_MONOTONIC is there on every Linux; the call can't fail with a valid address.
        unsafe clock_gettime(CLOCK_MONOTONIC, &now)
        return now.tv_sec * 1000 + now.tv_nsec / 1_000_000
    }
}
