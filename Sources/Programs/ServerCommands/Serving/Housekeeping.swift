import LocalSockets
import Synchronization
import Verification
import WatchwordSystem

/// Deletes expired rows and events.
///
/// It deletes only while the kernel reports a synchronised clock and recent events confirm the time
/// (``VerificationStore/pruning(at:keepingEventsFor:key:)``).
struct Housekeeping: Sendable {
    let store: any VerificationStore
    /// Authenticates the events.
    let key: AuditKey
    /// The time for which events are kept, in milliseconds; `nil` keeps them forever.
    let eventLifetime: Int64?
    let now: @Sendable () -> UnixTime
    /// The reason why the clock cannot be trusted at a given time; `nil` if it can.
    let complaint: @Sendable (UnixTime) -> String?
    let say: @Sendable (String, [(String, String)]) -> Void
    /// The realm of this machine's accounts, until the realm was checked; `nil` without a realm.
    var realm: Realm?
    /// The reason why old events were kept in the last run; each reason is logged once.
    private(set) var cause: String?

    /// Deletes everything that has expired.
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
            } else {
                let horizon = Pruning.challengeHorizon(at: now)
                _ = try await store.pruneAll(Pruning(now: nil, challengesAt: horizon))
            }
            note(areEventsAltered ? "events-altered" : hasOldEvents ? doubt : nil)
            try await checkRealm()
        } catch {
            say("pruning-failed", [("cause", "\(error.kind.rawValue) \(error.code)")])
        }
    }

    private func hasOldEvents(_ now: UnixTime) async throws(StoreFailure) -> Bool {
        guard let eventLifetime, let oldest = try await store.events(after: 0, limit: 1).first
        else { return false }
        return oldest.time < now.adding(milliseconds: -eventLifetime)
    }

    /// Reports a realm without users while other realms have users with credentials, as after
    /// renaming the machine.
    private mutating func checkRealm() async throws(StoreFailure) {
        guard let realm else { return }
        let hasUsers = try await hasSubjects(beginningWith: realm.nobody)
        if !hasUsers, try await hasSubjects(beginningWith: Realm.beginning) {
            say("realm-without-users", [("advice", ServerMessages.renamed(realm))])
        }
        self.realm = nil
    }

    private func hasSubjects(beginningWith text: String) async throws(StoreFailure) -> Bool {
        let query = CredentialQuery.aliveBySubject(beginning: Array(text.utf8), after: nil)
        return try await !store.credentials(query, limit: 1).isEmpty
    }

    /// Logs once why old events are kept.
    private mutating func note(_ doubt: String?) {
        if let doubt, doubt != cause { say("events-kept", [("cause", doubt)]) }
        cause = doubt
    }
}

/// Records the ends of the event chains once a minute, and after every 1,000 events.
///
/// The writes run on a separate thread, so decisions do not wait for them. If a server is killed,
/// the recorded ends may lack the events of the last minute (at most 1,000) and those that arrived
/// during a write.
final class CheckpointRecorder: Sendable {
    /// The number of events after which it writes.
    static let events = 1_000
    /// The file is written at least this often.
    static let interval = Duration.seconds(60)

    private let semaphore = Semaphore()
    /// Whether a write was requested after the last one began.
    private let isWanted = Atomic(false)
    private let isOver = Atomic(false)
    private let thread = Mutex<WorkerThread?>(nil)

    /// Starts the thread; returns `nil` if the system cannot create one.
    ///
    /// - Parameter write: records the ends.
    init?(
        every interval: Duration = CheckpointRecorder.interval,
        write: @escaping @Sendable () -> Void
    ) {
        guard let started = WorkerThread({ self.run(interval, write) }) else { return nil }
        thread.withLock { $0 = started }
    }

    /// Requests a write without waiting for it.
    func ask() {
        if !isWanted.exchange(true, ordering: .sequentiallyConsistent) { semaphore.post() }
    }

    /// Waits for the write in progress and ends the thread.
    func stop() {
        isOver.store(true, ordering: .sequentiallyConsistent)
        semaphore.post()
        let ending = thread.withLock { thread in
            defer { thread = nil }
            return thread
        }
        ending?.join()
    }

    private func run(_ interval: Duration, _ write: () -> Void) {
        while true {
            semaphore.wait(timeout: interval)
            if isOver.load(ordering: .sequentiallyConsistent) { return }
            // Reset this first, so that a request during the write causes a further write.
            isWanted.store(false, ordering: .sequentiallyConsistent)
            write()
        }
    }
}
