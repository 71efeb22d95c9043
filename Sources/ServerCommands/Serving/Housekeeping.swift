import Verification

/// What a server does beside answering: it takes away what has had its time.
///
/// The wall clock says what is old, and a wall clock can be years ahead. What it took for old would
/// then be gone for good, so old events go only by a clock that the kernel and the events themselves
/// bear out. Tickets, answers and pending enrolments go in any case: by the same clock they are not
/// honoured any more, the longest of them are kept for a day, and whoever lost one asks once more. What is
/// spent, and stays so, stands in the credentials' rows, which never go. Kept, they would grow without
/// an end where the kernel says nothing about its clock.
struct Housekeeping: Sendable {
    private let store: any VerificationStore
    /// Milliseconds for which events are kept; nothing for ever.
    private let eventLifetime: Int64?
    private let now: @Sendable () -> UnixTime
    /// Why the clock can't be trusted at that moment; nothing when it can.
    private let complaint: @Sendable (UnixTime) -> String?
    private let say: @Sendable (String, [(String, String)]) -> Void
    /// Why old events were kept the last time; it is said once.
    private var cause: String?

    init(
        _ store: any VerificationStore, keepingEventsFor eventLifetime: Int64?,
        now: @escaping @Sendable () -> UnixTime,
        complaint: @escaping @Sendable (UnixTime) -> String?,
        say: @escaping @Sendable (String, [(String, String)]) -> Void
    ) {
        self.store = store
        self.eventLifetime = eventLifetime
        self.now = now
        self.complaint = complaint
        self.say = say
    }

    /// Takes away all that has had its time.
    mutating func tidy() async {
        do throws(StoreFailure) {
            let now = now()
            try await store.pruneAll(now: now, eventsBefore: try await horizon(now))
        } catch {
            say("pruning-failed", [("cause", "\(error.trouble.rawValue) \(error.code)")])
        }
    }

    /// The moment before which events go; nothing when all stay.
    private mutating func horizon(_ now: UnixTime) async throws(StoreFailure) -> UnixTime? {
        guard let eventLifetime else { return nil }
        let horizon = now.adding(milliseconds: -eventLifetime)
        guard let oldest = try await store.events(after: 0, limit: 1).first, oldest.time < horizon
        else {
            cause = nil
            return nil
        }
        var cause = complaint(now)
        if cause == nil, try await !store.bearsOut(now, keepingEventsFor: eventLifetime) {
            cause = "clock-not-borne-out"
        }
        defer { self.cause = cause }
        guard let cause else { return horizon }
        if cause != self.cause { say("events-kept", [("cause", cause)]) }
        return nil
    }
}
