internal import Synchronization
package import WatchwordSystem

/// Counts denials, so that they fill neither the audit log nor the disk.
///
/// Devices have no API key, so anyone can cause any number of denials. The users of an application,
/// whose codes are denied without a check, can do the same. For each sender, one denial per minute
/// is written immediately, with its decision. The other denials are counted, and one event per
/// reason, with the count, is written a minute later. A device with more denials per minute than
/// ``Policy/maximumDenials`` is told to wait; only the changes that spend something, such as a
/// challenge, are written. Accepted requests are not counted, so an attacker cannot lock anyone
/// out.
///
/// With many senders, at most ``maximumEvents`` events per minute are written immediately, and at
/// most the same number later; the other counts are combined into one event per reason. Holders of
/// a secret are exempt.
///
/// Each process keeps its own counts in memory. The counts decide only which events are written and
/// which senders must wait.
package final class DenialCounter: Sendable {
    /// The sender of denied requests.
    package enum Sender: Hashable, Sendable {
        /// A sender without a valid secret, by network address.
        case stranger(NetworkAddress)
        /// A holder of a secret that the server issued.
        case holder(CredentialID)
        /// An application whose requests are denied without a check, for one reason and, if it
        /// exists, one subject and credential.
        case application(ClientID?, Event.Reason, Subject?, CredentialID?)
        /// All senders beyond the capacity, and all senders whose address cannot be parsed.
        case others
    }

    /// How a denial is handled.
    enum Verdict: Hashable, Sendable {
        /// The denial is written now, as one event for `count` denials.
        case written(count: Int)
        /// The denial is counted, and written later.
        case counted
        /// The denial is not written; the sender must wait for this many seconds.
        case refused(retryAfter: Int)
    }

    /// The unwritten denials for one reason.
    struct Line: Sendable {
        var last: Event
        var count: Int

        /// One event for all denials of the line.
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

    /// The maximum number of events that are written immediately, and of events that are written
    /// later for one sender, in a minute.
    static let maximumEvents = 32

    private struct State {
        var pages: [Sender: Page] = [:]
        /// The number of events that were written immediately in this minute.
        var written: (minute: Int64, count: Int) = (.min, 0)
    }

    private let capacity: Int
    private let limit: Int
    private let state = Mutex(State())

    /// - Parameters:
    ///   - capacity: the maximum number of senders without a valid secret that are counted
    ///     separately. Holders of a secret are always counted separately.
    ///   - limit: the maximum number of denials per sender and minute.
    init(capacity: Int = 1_024, limit: Int = Policy.maximumDenials) {
        self.capacity = capacity
        self.limit = limit
    }

    /// The number of senders that are counted separately.
    var count: Int { state.withLock { $0.pages.count } }

    /// Counts a denial.
    ///
    /// Only a sender's first denial of the minute can be written at once, so that the response time
    /// of later denials does not reveal their reason (V-06).
    func enter(_ event: Event, by sender: Sender) -> Verdict {
        let minute = Self.minute(event.time)
        let reason = event.reason ?? .unknown
        return state.withLock { state in
            let hasRoomForLine =
                sender.isHolder || state.pages[sender] != nil || state.pages.count < capacity
            let sender = hasRoomForLine ? sender : .others
            var page = state.pages[sender] ?? Page()
            defer { state.pages[sender] = page }
            if state.written.minute != minute { state.written = (minute, 0) }
            if page.minute != minute {
                page.minute = minute
                page.denials = 0
            }
            page.denials += 1
            guard page.denials <= limit else {
                return .refused(retryAfter: Int(60 - event.time.seconds % 60))
            }
            let count = (page.lines[reason]?.count ?? 0) + 1
            if page.denials == 1, page.written[reason] != minute,
                sender.isHolder || state.written.count < Self.maximumEvents
            {
                if !sender.isHolder { state.written.count += 1 }
                page.written[reason] = minute
                page.lines[reason] = nil
                return .written(count: count)
            }
            page.lines[reason] = Line(
                last: event.summed(with: page.lines[reason]?.last, of: sender), count: count)
            return .counted
        }
    }

    /// Removes and returns the lines that are due to be written, one per sender and reason, or one
    /// per reason for all senders beyond ``maximumEvents``.
    ///
    /// - Parameter all: whether to include lines for whose reason an event was already written in
    ///   this minute.
    func takeDue(at now: UnixTime, all: Bool) -> [(sender: Sender, line: Line)] {
        let minute = Self.minute(now)
        return state.withLock { state in
            var due: [(sender: Sender, line: Line)] = []
            var rest: [Event.Reason: Line] = [:]
            for (sender, var page) in state.pages {
                for (reason, line) in page.lines where all || page.written[reason] != minute {
                    if sender.isHolder || due.count < Self.maximumEvents {
                        due.append((sender, line))
                    } else {
                        rest[reason] = Line(
                            last: line.last.summed(with: rest[reason]?.last, of: .others),
                            count: line.count + (rest[reason]?.count ?? 0))
                    }
                    page.lines[reason] = nil
                    page.written[reason] = minute
                }
                let isOver =
                    page.lines.isEmpty && page.minute != minute
                    && !page.written.values.contains(minute)
                state.pages[sender] = isOver ? nil : page
            }
            return due + rest.values.map { (.others, $0) }
        }
    }

    /// Puts back lines that could not be written.
    func giveBack(_ lines: [(sender: Sender, line: Line)]) {
        state.withLock { state in
            for (sender, line) in lines {
                let reason = line.last.reason ?? .unknown
                var page = state.pages[sender] ?? Page()
                page.written[reason] = nil
                page.lines[reason, default: Line(last: line.last, count: 0)].count += line.count
                state.pages[sender] = page
            }
        }
    }

    private static func minute(_ time: UnixTime) -> Int64 { time.milliseconds / 60_000 }
}

extension DenialCounter.Sender {
    /// Whether the sender holds a secret.
    ///
    /// Senders without a valid secret cannot increase the number of holders.
    fileprivate var isHolder: Bool { if case .holder = self { true } else { false } }

    /// The sender of a request without a valid secret; `nil` if an application sent it, whose
    /// address many users share, or if the verifier is not given addresses.
    package init?(strangerAt origin: Origin) {
        guard origin.client == nil, !origin.address.isEmpty else { return nil }
        self = NetworkAddress(origin.address).map { .stranger($0.sender) } ?? .others
    }
}

extension DenialCounter.Sender {
    /// The application to which a denial is attributed; `nil` if a code or secret was checked, or
    /// if the event is not a denial.
    ///
    /// Such an event is always written.
    ///
    /// Anyone can make up unknown subjects and tickets, so all of them share one sender for each
    /// application.
    init?(uncheckedIn event: Event) {
        guard event.kind == .denied, let reason = event.reason else { return nil }
        switch reason {
        case .unknown, .challenge: self = .application(event.origin.client, reason, nil, nil)
        case .throttled, .disabled, .expired, .revoked, .otherAudience:
            self = .application(event.origin.client, reason, event.subject, event.credential)
        default: return nil
        }
    }

    var isApplication: Bool { if case .application = self { true } else { false } }
}

extension Event {
    /// The event as a summary of several denials, without the facts in which they differ.
    ///
    /// - Parameter earlier: the summary of the earlier denials.
    fileprivate func summed(with earlier: Event?, of sender: DenialCounter.Sender) -> Event {
        let earlier = earlier ?? self
        let isMixed = earlier.subject != subject || earlier.credential != credential
        var origin = sender == .others ? Origin.unknown : origin
        if sender.isApplication, earlier.origin != origin {
            // The requests came from several of the application's users.
            origin = Origin(address: "", client: origin.client)
        }
        return Event(
            kind, reason: reason, time: time, subject: isMixed ? nil : subject,
            credential: isMixed ? nil : credential, verification: verification, origin: origin)
    }
}

/// A denial to be counted by ``DenialCounter``, and the events to write with it.
struct CountedDenial: Sendable {
    let sender: DenialCounter.Sender
    let event: Event
    /// Additional events, written only if ``event`` is written.
    var others: [Event] = []

    /// The events to write for `count` denials.
    func events(count: Int) -> [Event] {
        guard count > 1 else { return [event] + others }
        return [DenialCounter.Line(last: event, count: count).event(at: event.time)] + others
    }
}

extension Decision {
    /// The decision with an event that is written as often as ``DenialCounter`` permits.
    ///
    /// If `sender` is `nil`, the event is always written, unless it denies a request without a
    /// check.
    package func counting(
        _ event: Event, _ others: [Event] = [], by sender: DenialCounter.Sender?
    ) -> Decision {
        var decision = self
        if let sender = sender ?? (others.isEmpty ? .init(uncheckedIn: event) : nil) {
            decision.denial = CountedDenial(sender: sender, event: event, others: others)
        } else {
            decision.changes += ([event] + others).map { .appendEvent($0) }
        }
        return decision
    }
}

extension Decision {
    /// Counts the denial, if there is one, and adds its events if they are due.
    ///
    /// - Returns: the number of seconds that the sender has to wait. The decision still holds: a
    ///   challenge that it spends stays spent. Only the dummy row is omitted, because the sender
    ///   learns no result.
    mutating func enterDenial(at verifier: Verifier) -> Int? {
        guard let denial else { return nil }
        let isApplication = denial.sender.isApplication
        let counter = isApplication ? verifier.uncheckedDenials : verifier.denials
        switch counter.enter(denial.event, by: denial.sender) {
        case .written(let count):
            changes += denial.events(count: count).map { .appendEvent($0) }
        case .counted: if isApplication { changes.append(.writeDummyEvent(denial.event)) }
        case .refused(let seconds):
            changes.removeAll { change in
                if case .writeDummy = change { true } else { false }
            }
            return seconds
        }
        return nil
    }
}

extension Verifier {
    /// Writes the denials that were only counted.
    ///
    /// Call this method once a minute and at shutdown.
    ///
    /// - Parameter atEnd: whether to write all denials, because no later call follows.
    public func writeCountedDenials(atEnd: Bool = false) async throws(VerifierError) {
        let now = now
        for counter in [denials, uncheckedDenials] {
            let due = counter.takeDue(at: now, all: atEnd)
            guard !due.isEmpty else { continue }
            do throws(VerifierError) {
                _ = try await commit(due.map { .appendEvent($0.line.event(at: now)) })
            } catch {
                counter.giveBack(due)
                throw error
            }
        }
    }
}
