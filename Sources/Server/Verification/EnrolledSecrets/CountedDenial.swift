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
    /// If `sender` is `nil`, the event is always written, unless it denies what was not checked.
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
    /// - Returns: the number of seconds that the sender has to wait. The decision holds nevertheless:
    ///   a challenge that it spends stays spent. Only the dummy row is left out, because the sender
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
    /// Call this once a minute and at shutdown.
    ///
    /// - Parameter atEnd: whether to write all of them, because there is no later call.
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
