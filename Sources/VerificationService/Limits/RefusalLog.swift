internal import POSIX
internal import Synchronization

/// Limits the log lines of requests without a valid API key, so that they do not fill the disk.
///
/// Of each address and outcome, one line a minute is written at once. The others are counted, and
/// ``takeDue(at:all:)`` gives one line for all of them once their minute is over. Lines are kept for
/// a bounded number of addresses and outcomes; beyond that, addresses share one line for each outcome.
final class RefusalLog: Sendable {
    private struct Key: Hashable {
        /// `nil` for all addresses that have no line of their own.
        let sender: NetworkAddress?
        let status: Int
        let outcome: String
        let cause: String?

        init(_ line: LogLine, sender: NetworkAddress?) {
            self.sender = sender
            status = line.status
            outcome = line.outcome
            cause = line.cause
        }
    }

    private struct Entry {
        /// The minute in which a line was last written.
        var written: Int64
        /// The last one that was counted, and how many are not written yet.
        var last: LogLine?
        var count = 0
    }

    private let capacity: Int
    private let start: ContinuousClock.Instant
    private let entries = Mutex<[Key: Entry]>([:])

    /// - Parameter capacity: lines that are kept, apart from the shared ones.
    init(capacity: Int = 1_024, start: ContinuousClock.Instant) {
        self.capacity = capacity
        self.start = start
    }

    /// How many lines are kept.
    var count: Int { entries.withLock { $0.count } }

    /// Takes a line; gives what is to be written now, if anything.
    func enter(_ line: LogLine, at now: ContinuousClock.Instant) -> LogLine? {
        let minute = minute(now)
        let sender = NetworkAddress.sender(of: line.address)
        return entries.withLock { entries in
            let own = Key(line, sender: sender)
            let hasOwn = entries[own] != nil || entries.count < capacity
            let key = hasOwn ? own : Key(line, sender: nil)
            let line = hasOwn ? line : line.fromSeveralAddresses
            var entry = entries[key] ?? Entry(written: .min)
            defer { entries[key] = entry }
            guard entry.written != minute else {
                entry.last = line
                entry.count += 1
                return nil
            }
            let count = entry.count + 1
            entry = Entry(written: minute)
            return line.standing(for: count)
        }
    }

    /// Takes the lines that stand for what was counted, and forgets what was not used for a minute.
    ///
    /// - Parameter all: whether those of the current minute are taken as well.
    func takeDue(at now: ContinuousClock.Instant, all: Bool) -> [LogLine] {
        let minute = minute(now)
        return entries.withLock { entries in
            var due: [LogLine] = []
            for (key, entry) in entries where all || entry.written != minute {
                // A line that is written now is this minute's.
                entries[key] = entry.last == nil ? nil : Entry(written: minute)
                if let last = entry.last { due.append(last.standing(for: entry.count)) }
            }
            return due
        }
    }

    private func minute(_ now: ContinuousClock.Instant) -> Int64 {
        (now - start).components.seconds / 60
    }
}

extension NetworkAddress {
    /// Who a text with an address stands for; all texts that are none stand for one.
    static func sender(of text: String) -> NetworkAddress {
        if let known = NetworkAddress(text) { return known.sender }
        guard let none = NetworkAddress(bytes: [UInt8](repeating: 0, count: 16)) else {
            preconditionFailure("16 bytes are an address")
        }
        return none
    }
}
