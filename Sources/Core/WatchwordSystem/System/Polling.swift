internal import Glibc

/// Waits until one of several descriptors is readable or writable.
public enum Polling {
    /// A descriptor and the event to wait for.
    public struct Interest: Sendable {
        /// The number of the descriptor, which must stay open during the wait.
        public let number: Int32
        /// Whether to wait until it is writable; otherwise until it is readable.
        public let isWriting: Bool

        /// Waits for a descriptor that a library owns.
        public init(number: Int32, isWriting: Bool) {
            self.number = number
            self.isWriting = isWriting
        }

        /// Waits until `file` is readable; it must stay open during the wait.
        public static func reading(_ file: borrowing FileDescriptor) -> Interest {
            Interest(number: file.number, isWriting: false)
        }

        /// Waits until `file` is writable; it must stay open during the wait.
        public static func writing(_ file: borrowing FileDescriptor) -> Interest {
            Interest(number: file.number, isWriting: true)
        }

        var request: pollfd {
            pollfd(fd: number, events: Int16(isWriting ? POLLOUT : POLLIN), revents: 0)
        }
    }

    /// Waits until one of `interests` is ready, a descriptor has failed, or `timeout` expires.
    ///
    /// - Returns: the time that passed, at most `timeout`. If this process was stopped (Ctrl-Z), no
    ///   more than that is counted, because the process at the other end was also stopped.
    public static func wait(
        for interests: [Interest], timeout: Duration
    ) throws(SystemCallFailure) -> Duration {
        let start = Moment.awakeTime()
        _ = try ready(of: interests, timeout: timeout)
        return min(max(Moment.awakeTime() - start, .zero), timeout)
    }
}

extension Polling {
    /// Waits like ``wait(for:timeout:)``; `nil` waits indefinitely.
    ///
    /// - Returns: for each interest, whether it is ready; a closed descriptor counts as ready.
    ///   After an interruption by a signal, none is.
    public static func ready(
        of interests: [Interest], timeout: Duration?
    ) throws(SystemCallFailure) -> [Bool] {
        var requests = interests.map(\.request)
        let milliseconds = timeout?.millisecondsRoundedUp ?? -1
        let count = try SystemCallFailure.nilIf(
            { $0.number == EINTR },
            call("poll") { unsafe poll(&requests, nfds_t(requests.count), milliseconds) })
        return requests.map { (count ?? 0) > 0 && $0.revents != 0 }
    }
}

extension Duration {
    /// The duration in whole milliseconds for `poll`, rounded up.
    ///
    /// It is 0 for a negative duration and `Int32.max` for a duration that exceeds `Int32.max`
    /// milliseconds. Rounding down would make a caller that waits for the last fraction of a
    /// millisecond spin.
    public var millisecondsRoundedUp: Int32 {
        guard self > .zero else { return 0 }
        let (seconds, attoseconds) = components
        // More than `Int32` can hold; the product below could overflow.
        guard seconds < 1 << 32 else { return .max }
        return Int32(
            clamping: seconds * 1_000 + (attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000)
    }
}
