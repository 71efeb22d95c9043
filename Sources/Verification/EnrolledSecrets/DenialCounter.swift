internal import POSIX
internal import Synchronization

/// Counts denials of devices, so that they fill neither the audit log nor the disk.
///
/// Devices have no API key, so anybody can cause any number of denials. For each sender, one denial
/// per minute is written immediately, with its decision. The other denials are counted, and one
/// event per reason, with the count, is written a minute later. A sender with more denials per
/// minute than ``Policy/maximumDenials`` is told to wait; nothing is written then but what the denial
/// spends. Accepted requests are not counted, so an attacker cannot lock anybody out.
///
/// Each process keeps its own counts in memory. They only decide which events are written and which
/// senders have to wait.
final class DenialCounter: Sendable {
    /// The sender of denied requests.
    enum Sender: Hashable, Sendable {
        /// A sender without a valid secret, by network address.
        case stranger(NetworkAddress)
        /// A holder of a secret that the server issued.
        case holder(CredentialID)
        /// All senders beyond the capacity, and all senders whose address cannot be parsed.
        case others
    }

    /// What happens to a denial.
    enum Verdict: Hashable, Sendable {
        /// It is written now, as one event for `count` denials.
        case written(count: Int)
        /// It is only counted.
        case counted
        /// It is not written; the sender has to wait for this many seconds.
        case refused(retryAfter: Int)
    }

    /// Denials for one reason that have not been written yet.
    struct Line: Sendable {
        var last: Event
        var count: Int

        /// One event for all of them.
        func event(at now: UnixTime) -> Event {
            Event(
                last.kind, reason: last.reason, time: now, subject: last.subject,
                credential: last.credential, verification: last.verification,
                origin: last.origin, number: Int64(count))
        }
    }

    private struct Page {
        var minute: Int64 = .min
        var denials = 0
        /// For each reason, the minute in which an event was last written.
        var written: [Event.Reason: Int64] = [:]
        var lines: [Event.Reason: Line] = [:]
    }

    private let capacity: Int
    private let pages = Mutex<[Sender: Page]>([:])

    /// - Parameter capacity: the maximum number of senders without a valid secret that are counted
    ///   separately.
    ///
    /// Holders of a secret are always counted separately.
    init(capacity: Int = 1_024) { self.capacity = capacity }

    /// The number of senders that are counted separately.
    var count: Int { pages.withLock { $0.count } }

    /// Counts a denial.
    ///
    /// Only a sender's first denial of the minute can be written at once, so that the response time
    /// of later denials does not reveal their reason (V-06).
    func enter(_ event: Event, by sender: Sender) -> Verdict {
        let minute = Self.minute(event.time)
        let reason = event.reason ?? .unknown
        return pages.withLock { pages in
            let hasRoomForLine = sender.isHolder || pages[sender] != nil || pages.count < capacity
            let sender = hasRoomForLine ? sender : .others
            var page = pages[sender] ?? Page()
            defer { pages[sender] = page }
            if page.minute != minute {
                page.minute = minute
                page.denials = 0
            }
            page.denials += 1
            guard page.denials <= Policy.maximumDenials else {
                return .refused(retryAfter: Int(60 - event.time.seconds % 60))
            }
            let count = (page.lines[reason]?.count ?? 0) + 1
            if page.denials == 1, page.written[reason] != minute {
                page.written[reason] = minute
                page.lines[reason] = nil
                return .written(count: count)
            }
            let others = page.lines[reason]?.last.credential
            let isMixed = count > 1 && others != event.credential
            page.lines[reason] = Line(
                last: event.summed(isMixed: isMixed, hasOrigin: hasRoomForLine), count: count)
            return .counted
        }
    }

    /// Removes and returns the lines that are due to be written, one per sender and reason.
    ///
    /// - Parameter all: whether to include lines for whose reason an event was already written in
    ///   this minute.
    func takeDue(at now: UnixTime, all: Bool) -> [(sender: Sender, line: Line)] {
        let minute = Self.minute(now)
        return pages.withLock { pages in
            var due: [(sender: Sender, line: Line)] = []
            for (sender, var page) in pages {
                for (reason, line) in page.lines where all || page.written[reason] != minute {
                    due.append((sender, line))
                    page.lines[reason] = nil
                    page.written[reason] = minute
                }
                let isOver =
                    page.lines.isEmpty && page.minute != minute
                    && !page.written.values.contains(minute)
                pages[sender] = isOver ? nil : page
            }
            return due
        }
    }

    /// Puts back lines that could not be written.
    func giveBack(_ lines: [(sender: Sender, line: Line)]) {
        pages.withLock { pages in
            for (sender, line) in lines {
                let reason = line.last.reason ?? .unknown
                var page = pages[sender] ?? Page()
                page.written[reason] = nil
                page.lines[reason, default: Line(last: line.last, count: 0)].count += line.count
                pages[sender] = page
            }
        }
    }

    private static func minute(_ time: UnixTime) -> Int64 { time.milliseconds / 60_000 }
}

extension DenialCounter.Sender {
    /// Whether the sender is a holder.
    ///
    /// Senders without a valid secret cannot increase the number of holders.
    fileprivate var isHolder: Bool { if case .holder = self { true } else { false } }

    /// The sender of a request without a valid secret; `nil` if an application sent it, whose address
    /// many users share, or if the verifier is not given addresses.
    init?(strangerAt origin: Origin) {
        guard origin.client == nil, !origin.address.isEmpty else { return nil }
        self = NetworkAddress(origin.address).map { .stranger($0.sender) } ?? .others
    }
}

extension Event {
    /// The event as a summary of several denials, without the facts in which they differ.
    fileprivate func summed(isMixed: Bool, hasOrigin: Bool) -> Event {
        Event(
            kind, reason: reason, time: time, subject: isMixed ? nil : subject,
            credential: isMixed ? nil : credential, verification: verification,
            origin: hasOrigin ? origin : .unknown)
    }
}
