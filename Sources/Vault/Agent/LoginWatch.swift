internal import Devices
internal import WatchwordSystem

/// Notices when a session is locked or the machine is about to sleep.
///
/// Without a system bus, or while the bus does not answer, nothing is noticed; the key holder still
/// locks the vaults after a suspend.
struct LoginWatch: ~Copyable {
    /// The vaults that must be locked.
    enum Scope: Equatable {
        case all
        /// The vaults of these users.
        case users(Set<UInt32>)
    }

    private var manager: LoginManager?
    private var nextAttempt = Moment.now
    /// Whether the machine waits until the vaults are locked.
    private var isSleepDelayed = false

    /// How long to wait before connecting to the bus again.
    private static let pause = Duration.seconds(60)

    /// What to wait for before the next call of ``vaultsToLock()``.
    var interests: [Polling.Interest] { manager?.interests ?? [] }

    /// The vaults that must be locked; call ``noteLocked()`` when all of them are locked.
    ///
    /// A session whose user is unknown may belong to any user.
    mutating func vaultsToLock() -> Scope {
        if manager == nil, nextAttempt.timeRemaining == .zero {
            nextAttempt = .now + LoginWatch.pause
            manager = LoginManager()
        }
        guard let manager else { return .users([]) }
        do throws(SystemCallFailure) {
            let notices = try manager.notices()
            if notices.contains(.sleep) { isSleepDelayed = true }
            if notices.contains(.sleep) || notices.contains(.lock(user: nil)) { return .all }
            return .users(
                Set(notices.compactMap { if case .lock(let user) = $0 { user } else { nil } }))
        } catch {
            // The bus has ended or violated its protocol.
            self.manager = nil
            return .users([])
        }
    }

    /// Lets the machine sleep if it waits.
    mutating func noteLocked() {
        if isSleepDelayed { manager?.allowSleep() }
        isSleepDelayed = false
    }
}

extension LoginWatch.Scope {
    var isEmpty: Bool { self == .users([]) }

    mutating func formUnion(_ other: LoginWatch.Scope) {
        self =
            switch (self, other) {
            case (.all, _), (_, .all): .all
            case (.users(let users), .users(let more)): .users(users.union(more))
            }
    }

    /// Removes the part that one request to the key holder can cover, and returns that request;
    /// `nil` if no vault must be locked.
    mutating func popRequest() -> [UInt8]? {
        switch self {
        case .all:
            self = .users([])
            return [KeyHolder.lockAll]
        case .users(var users):
            guard let user = users.popFirst() else { return nil }
            self = .users(users)
            return [KeyHolder.lockUser] + UserNumber.bytes(of: user)
        }
    }
}
