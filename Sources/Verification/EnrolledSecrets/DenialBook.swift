internal import POSIX
internal import Synchronization

/// Counts denials of devices, so that they fill neither the audit log nor the disk.
///
/// Devices have no API key, so anybody can cause any number of denials. Of each sender, one denial a
/// minute is written at once, by its own decision. The others are counted, and a minute later one event
/// tells their number for each reason. A sender who is denied more often in a minute than
/// ``Policy/maximalDenials`` is told to wait, and nothing is written for him. Who is accepted never
/// comes here, so strangers keep nobody out.
///
/// It is the memory of one process. Nothing is decided by it but what is written down.
final class DenialBook: Sendable {
    /// Who was denied.
    enum Sender: Hashable, Sendable {
        /// Somebody who proved nothing, at this address.
        case stranger(NetworkAddress)
        /// Somebody who has a secret that the server made.
        case holder(CredentialID)
        /// Everybody for whom no page is left.
        case others
    }

    /// What becomes of a denial.
    enum Verdict: Hashable, Sendable {
        /// It is written down now, for so many like it.
        case written(count: Int)
        /// It is counted.
        case counted
        /// It is not answered: the sender has to wait for so many seconds.
        case refused(retryAfter: Int)
    }

    /// Denials of one reason that are not written yet.
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
        /// The minute in which an event of the reason was last written.
        var written: [Event.Reason: Int64] = [:]
        var lines: [Event.Reason: Line] = [:]
    }

    private let capacity: Int
    private let pages = Mutex<[Sender: Page]>([:])

    /// - Parameter capacity: strangers that have a page of their own; holders always have one.
    init(capacity: Int = 1_024) { self.capacity = capacity }

    /// How many senders have a page.
    var count: Int { pages.withLock { $0.count } }

    /// Takes down a denial.
    ///
    /// Whether it is written does not depend on its reason unless it is the sender's first of that
    /// minute, so that the time does not tell the reasons apart (V-06).
    func enter(_ event: Event, by sender: Sender) -> Verdict {
        let minute = Self.minute(event.time)
        let reason = event.reason ?? .unknown
        return pages.withLock { pages in
            let hasPage = sender.isHolder || pages[sender] != nil || pages.count < capacity
            let sender = hasPage ? sender : .others
            var page = pages[sender] ?? Page()
            defer { pages[sender] = page }
            if page.minute != minute {
                page.minute = minute
                page.denials = 0
            }
            page.denials += 1
            guard page.denials <= Policy.maximalDenials else {
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
                last: event.summed(isMixed: isMixed, hasOrigin: hasPage), count: count)
            return .counted
        }
    }

    /// Takes the lines that are due to be written, one for each sender and reason.
    ///
    /// - Parameter all: whether those are due, too, of whose kind an event was written in this minute.
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

    /// Takes lines back that could not be written.
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

extension DenialBook.Sender {
    /// Whether it is somebody whose number strangers do not determine.
    fileprivate var isHolder: Bool { if case .holder = self { true } else { false } }

    /// Who proved nothing; `nil` where the verifier is not told from where requests come.
    init?(strangerAt origin: Origin) {
        guard !origin.address.isEmpty else { return nil }
        self = NetworkAddress(origin.address).map { .stranger($0.sender) } ?? .others
    }
}

extension Event {
    /// The event as one that stands for several, with nothing in it that is not true of all of them.
    fileprivate func summed(isMixed: Bool, hasOrigin: Bool) -> Event {
        Event(
            kind, reason: reason, time: time, subject: isMixed ? nil : subject,
            credential: isMixed ? nil : credential, verification: verification,
            origin: hasOrigin ? origin : .unknown)
    }
}
