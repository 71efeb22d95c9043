import Verification

/// What a server does beside answering: it deletes what has had its time.
///
/// It does so only while the kernel trusts the wall clock and the events bear it out
/// (``VerificationStore/pruning(at:keepingEventsFor:)``).
struct Housekeeping: Sendable {
    private let store: any VerificationStore
    /// Proves that an event is one that was written.
    private let key: AuditKey
    /// Milliseconds for which events are kept; nothing for ever.
    private let eventLifetime: Int64?
    private let now: @Sendable () -> UnixTime
    /// Why the clock can't be trusted at that moment; nothing when it can.
    private let complaint: @Sendable (UnixTime) -> String?
    private let say: @Sendable (String, [(String, String)]) -> Void
    /// Why old events were kept the last time; it is said once.
    private var cause: String?

    init(
        _ store: any VerificationStore, key: AuditKey, keepingEventsFor eventLifetime: Int64?,
        now: @escaping @Sendable () -> UnixTime,
        complaint: @escaping @Sendable (UnixTime) -> String?,
        say: @escaping @Sendable (String, [(String, String)]) -> Void
    ) {
        self.store = store
        self.key = key
        self.eventLifetime = eventLifetime
        self.now = now
        self.complaint = complaint
        self.say = say
    }

    /// Deletes all that has had its time.
    mutating func tidy() async {
        do throws(StoreFailure) {
            let now = now()
            let hasOldEvents = try await hasOldEvents(now)
            var doubt = complaint(now)
            var areEventsAltered = false
            if doubt == nil {
                let pruning = try await store.pruning(
                    at: now, keepingEventsFor: eventLifetime, key: key)
                if hasOldEvents, pruning.eventsBefore == nil { doubt = "clock-not-borne-out" }
                areEventsAltered = try await store.pruneAll(pruning).areEventsAltered
            }
            note(areEventsAltered ? "events-altered" : hasOldEvents ? doubt : nil)
        } catch {
            say("pruning-failed", [("cause", "\(error.trouble.rawValue) \(error.code)")])
        }
    }

    private func hasOldEvents(_ now: UnixTime) async throws(StoreFailure) -> Bool {
        guard let eventLifetime, let oldest = try await store.events(after: 0, limit: 1).first
        else { return false }
        return oldest.time < now.adding(milliseconds: -eventLifetime)
    }

    /// Says once why old events are kept.
    private mutating func note(_ doubt: String?) {
        if let doubt, doubt != cause { say("events-kept", [("cause", doubt)]) }
        cause = doubt
    }
}
