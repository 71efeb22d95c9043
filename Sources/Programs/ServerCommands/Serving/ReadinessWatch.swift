import Synchronization
import VerificationService
import WatchwordSystem

/// Checks every few seconds whether the server is ready, and tells the service manager.
///
/// Each check reads the store. A check that neither succeeds nor fails means that the server hangs:
/// a service manager with a watchdog then restarts it. A failing check is no reason for a restart.
struct ReadinessWatch: Sendable {
    let service: Service
    let clock: ClockRequirement
    let notices: ServiceNotices
    let log: ServerLog

    /// The interval between checks, unless the watchdog requires a shorter one.
    private static let interval = Duration.seconds(5)

    /// Checks until the task is cancelled; the first check also reports that the server has started.
    func run() async {
        let interval = min(
            Self.interval, ServiceManager.watchdogTimeout().map { $0 / 3 } ?? Self.interval)
        var status: String?
        var doubt: ClockProblem?
        while true {
            let found = Self.status(await service.checkReadiness())
            var facts = status == nil ? ["READY=1"] : []
            if found != status { facts.append("STATUS=" + found) }
            notices.send(facts + ["WATCHDOG=1"])
            status = found
            let newDoubt = clock.doubt(now: ServerContext.now(), state: .current())
            if let newDoubt, newDoubt != doubt {
                log.say(
                    "clock-unconfirmed",
                    [("cause", newDoubt.rawValue), ("advice", ServerMessages.unconfirmedClock)])
            }
            doubt = newDoubt
            // Cancelling the task ends the sleep.
            do { try await Task.sleep(for: interval) } catch { return }
        }
    }

    private static func status(_ failure: ReadinessFailure?) -> String {
        guard let failure else { return "ready" }
        return "not ready (\(failure.cause)): \(ServerMessages.advice(for: failure))"
    }
}

/// Tells the service manager about the state of the server, if the manager requests notices.
final class ServiceNotices: Sendable {
    private let log: ServerLog
    /// Whether a failure was logged; later failures have the same cause.
    private let hasFailed = Atomic(false)

    init(log: ServerLog) { self.log = log }

    /// Sends lines as in sd_notify(3).
    func send(_ facts: [String]) {
        do throws(SystemCallFailure) { try ServiceManager.tell(facts) } catch {
            guard !hasFailed.exchange(true, ordering: .relaxed) else { return }
            log.say("service-manager-not-told", [("cause", ServerMessages.sentence(for: error))])
        }
    }
}
