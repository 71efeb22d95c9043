internal import Glibc

/// Waits until one of several descriptors can be read or written.
public enum Polling {
    /// A descriptor and what is hoped for.
    public struct Wish: Sendable {
        /// The descriptor's number.
        public let number: Int32
        /// Whether it is to be written; else it is to be read.
        public let isWriting: Bool

        /// Hopes to read `file`, which must stay open while it is waited for.
        public static func reading(_ file: borrowing FileDescriptor) -> Wish {
            Wish(number: file.number, isWriting: false)
        }

        /// Hopes to write `file`, which must stay open while it is waited for.
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
