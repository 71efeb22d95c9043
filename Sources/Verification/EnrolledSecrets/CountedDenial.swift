/// A denial that goes through the book, and what is written with it.
struct CountedDenial: Sendable {
    let sender: DenialBook.Sender
    let event: Event
    /// Written beside it, if it is written.
    var others: [Event] = []

    /// The events of so many denials.
    func events(count: Int) -> [Event] {
        guard count > 1 else { return [event] + others }
        return [DenialBook.Line(last: event, count: count).event(at: event.time)] + others
    }
}

extension Decision {
    /// The decision with an event that is written as often as the book permits; always without a sender.
    func counting(
        _ event: Event, _ others: [Event] = [], by sender: DenialBook.Sender?
    ) -> Decision {
        var decision = self
        if let sender {
            decision.denial = CountedDenial(sender: sender, event: event, others: others)
        } else {
            decision.changes += ([event] + others).map { .appendEvent($0) }
        }
        return decision
    }
}

extension Verifier {
    /// Writes down the denials that were only counted; to be called once a minute, and at the end.
    ///
    /// - Parameter atEnd: whether all of them are written, because there is no next time.
    public func writeCountedDenials(atEnd: Bool = false) async throws(VerifierError) {
        let now = now
        let due = denials.takeDue(at: now, all: atEnd)
        guard !due.isEmpty else { return }
        do throws(VerifierError) {
            _ = try await commit(due.map { .appendEvent($0.line.event(at: now)) })
        } catch {
            denials.giveBack(due)
            throw error
        }
    }
}
