internal import MessageBus
internal import POSIX

/// Notices when the user's session is locked or the machine is about to sleep.
///
/// Without a system bus, and while the bus does not answer, it notices nothing; the key holder still
/// locks the vaults after a suspend.
struct LoginWatch: ~Copyable {
    private var manager: LoginManager?
    private var nextAttempt = Moment.now
    /// Whether the machine waits until the vaults are locked.
    private var isSleepDelayed = false

    /// How long to wait before connecting to the bus again.
    private static let pause = Duration.seconds(60)

    /// What to wait for before the next call of ``requiresLock()``.
    var interests: [Polling.Interest] { manager?.interests ?? [] }

    /// Whether the vaults must be locked; ``noteLocked()`` says that they are.
    mutating func requiresLock() -> Bool {
        if manager == nil, nextAttempt.timeRemaining == .zero {
            nextAttempt = .now + LoginWatch.pause
            manager = LoginManager()
        }
        guard let manager else { return false }
        do throws(SystemCallFailure) {
            let notices = try manager.notices()
            if notices.contains(.sleep) { isSleepDelayed = true }
            return !notices.isEmpty
        } catch {
            // The bus has ended, or broke its protocol.
            self.manager = nil
            return false
        }
    }

    /// Lets the machine sleep if it waits.
    mutating func noteLocked() {
        if isSleepDelayed { manager?.allowSleep() }
        isSleepDelayed = false
    }
}
