// The subjects to which a client is limited.
extension Verifier {
    /// The same verifier for a client that is limited to these subjects.
    ///
    /// It finds no credentials and no events of other subjects, and redeems none of their logins.
    /// The verifier does not check the subjects that a caller specifies: the service refuses such
    /// requests first.
    ///
    /// Two rules still concern all subjects, because the protected values must be unique: a key or
    /// a passkey that any subject has or had cannot be enrolled again.
    package func limited(to subjects: SubjectPrefix) -> Verifier {
        var limited = self
        limited.limit = subjects
        return limited
    }

    /// Whether the client is limited to some subjects.
    package var isLimited: Bool { limit != nil }

    /// Whether the client may learn about the subject.
    package func includes(_ subject: Subject) -> Bool {
        limit?.includes(subject.utf8) ?? true
    }

    /// The credential; `nil`, as for an unknown credential, if the client may not learn about its
    /// subject.
    package func reachable(_ record: CredentialRecord?) -> CredentialRecord? {
        record.flatMap { includes($0.subject) ? $0 : nil }
    }
}

// Queries for a help desk.
extension Verifier {
    /// The subjects with credentials that are not revoked, in the order of their bytes.
    ///
    /// - Parameters:
    ///   - beginning: the beginning of the subjects; a limited verifier finds only subjects within
    ///     its limit.
    ///   - last: ``SubjectPage/next`` of the previous page; `nil` for the first page.
    ///   - limit: the maximum number of subjects on the page, at least 1.
    public func subjects(
        beginningWith beginning: String = "", after last: Subject? = nil, limit: Int = 100
    ) async throws(VerifierError) -> SubjectPage {
        let beginning = Array(beginning.utf8)
        guard self.limit?.includes(beginning) ?? true else {
            return SubjectPage(subjects: [], next: nil)
        }
        let query = CredentialQuery.aliveBySubject(beginning: beginning, after: last)
        let rows = try await VerifierError.store(
            in: await store.credentials(query, limit: Self.subjectRows))
        var groups: [[CredentialRow]] = []
        for row in rows {
            if groups.last?.last?.subject == row.subject {
                groups[groups.count - 1].append(row)
            } else {
                groups.append([row])
            }
        }
        var isComplete = rows.count < Self.subjectRows
        // The last subject may have more rows.
        if !isComplete { groups.removeLast() }
        if groups.count > limit {
            groups.removeLast(groups.count - limit)
            isComplete = false
        }
        let (now, keys) = (now, await ring())
        var subjects: [ListedSubject] = []
        for rows in groups {
            var credentials: [CredentialSummary] = []
            for row in rows {
                credentials.append(try CredentialRecord(row).summary(at: now, keys: keys))
            }
            subjects.append(ListedSubject(subject: rows[0].subject, credentials: credentials))
        }
        return SubjectPage(subjects: subjects, next: isComplete ? nil : subjects.last?.subject)
    }

    /// The events of all subjects or of one, in order of position.
    ///
    /// To find the events of one subject, all events are read, but one call reads only a limited
    /// number. A page may therefore be empty although later pages are not. If ``EventPage/last``
    /// equals `position`, there are no further events yet.
    ///
    /// - Parameters:
    ///   - subject: the subject of the events; `nil` for all events that the caller may see.
    ///   - time: omits earlier events.
    ///   - position: ``EventPage/last`` of the previous page; 0 for the first page.
    public func eventPage(
        of subject: Subject? = nil, since time: UnixTime? = nil, after position: UInt64,
        limit: Int
    ) async throws(VerifierError) -> EventPage {
        var page = EventPage(events: [], last: position)
        if position == 0, let time {
            // The clocks of two nodes may differ.
            let earliest = time.adding(milliseconds: -Policy.clockSkew)
            page.last = try await VerifierError.store(in: await store.position(before: earliest))
        }
        let isFiltered = subject != nil || self.limit != nil
        let batch = isFiltered ? Self.eventBatch : limit
        for _ in 0..<(isFiltered ? Self.eventBatches : 1) {
            let found = try await VerifierError.store(
                in: await store.events(after: page.last, limit: batch))
            for event in found {
                guard page.events.count < limit else { return page }
                page.last = event.position
                if isWanted(event, of: subject, since: time) { page.events.append(event) }
            }
            guard found.count == batch, page.events.count < limit else { break }
        }
        return page
    }

    private func isWanted(
        _ chained: ChainedEvent, of subject: Subject?, since time: UnixTime?
    ) -> Bool {
        if let time, chained.time < time { return false }
        guard subject != nil || limit != nil else { return true }
        guard let owner = chained.event?.subject else { return false }
        return includes(owner) && subject.map { $0 == owner } ?? true
    }

    /// The number of events that are read at once, and the number of such reads in one call.
    private static var eventBatch: Int { 1_000 }
    private static var eventBatches: Int { 10 }

    /// The number of rows from which a page of subjects is made: more than one subject can have.
    private static var subjectRows: Int { 10 * Policy.highestMaximumCredentials }

    /// Whether a subject has a second factor, and which kinds.
    ///
    /// A disabled or revoked factor differs from an absent factor: otherwise, a person who enters a
    /// hundred wrong codes would switch the second factor off.
    public func secondFactor(of subject: Subject) async throws(VerifierError) -> SecondFactor {
        let active = try await records(of: subject).filter { $0.state == .active }
        let kinds = Set(active.map(\.kind))
        guard kinds.isEmpty else {
            return .active(CredentialKind.allCases.filter(kinds.contains))
        }
        return try await hasEverConfirmed(subject) ? .ended : .none
    }
}

/// A page of subjects.
public struct SubjectPage: Hashable, Sendable {
    /// The subjects on the page.
    public let subjects: [ListedSubject]
    /// The position of the next page; `nil` if this page is the last.
    public let next: Subject?
}

/// A page of events.
public struct EventPage: Sendable {
    /// The events on the page.
    public internal(set) var events: [ChainedEvent]
    /// The position of the next page: that of the last event that was read.
    public internal(set) var last: UInt64
}

/// A subject, and its credentials that are not revoked.
public struct ListedSubject: Hashable, Sendable {
    /// The id of the subject, which the application chose.
    public let subject: Subject
    /// The subject's credentials.
    public let credentials: [CredentialSummary]
}

/// Whether a subject has a second factor.
public enum SecondFactor: Hashable, Sendable {
    /// The subject has active credentials of these kinds.
    case active([CredentialKind])
    /// The subject had a second factor, but none is active.
    case ended
    /// The subject never confirmed a second factor.
    case none
}
