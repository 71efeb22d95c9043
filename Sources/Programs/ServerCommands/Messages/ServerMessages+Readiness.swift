import Verification
import VerificationService

// The remedies if `/readyz` fails, or if somebody guesses codes.
extension ServerMessages {
    static let spraying =
        "codes are denied for many subjects, perhaps because somebody tries passwords and codes: look "
        + "at the addresses in the application's log, and limit attempts there"

    static func advice(for failure: ReadinessFailure) -> String {
        switch failure {
        case .clock(let complaint): advice(for: complaint)
        case .verifier(let error): advice(for: error)
        }
    }

    private static func advice(for complaint: ClockProblem) -> String {
        switch complaint {
        case .beforeBuild: "set the clock: it shows a time before the release of this program"
        case .unsynchronized, .tooInaccurate:
            "synchronise the clock, for example with chrony or systemd-timesyncd; use "
                + "--no-clock-check only if the host of this virtual machine synchronises it"
        case .unknown:
            "allow the server to call adjtimex (ProtectClock= in the unit blocks it); use "
                + "--no-clock-check only if the host of this virtual machine synchronises the clock"
        }
    }

    private static func advice(for error: VerifierError) -> String {
        switch error {
        case .store(let failure): advice(for: failure)
        case .keyMissing(let id): "install a key file that contains key \(id.number)"
        case .contended, .overloaded, .tooManyDenials, .tooManyChallenges:
            "wait; if the overload persists, add processors or servers"
        case .cryptography: "check that memory is available, and restart the server"
        case .damagedRow: damaged
        case .answerTooLong, .answered: "restart the server, and report this as a bug"
        }
    }

    private static func advice(for failure: StoreFailure) -> String {
        switch (failure.kind, failure.code) {
        case (.unavailable, "file-gone"):
            "stop the server, put the database file back or restore a copy, and start the server"
        case (.unavailable, "clock-differs"):
            "the clock of this machine and the database's differ by more than 10 s: synchronise both, for "
                + "example with chrony; the server continues by itself"
        case (.unavailable, _):
            "check that the database runs and can be reached; the server reconnects by itself"
        case (.busy, _):
            "end the program or transaction that locks the database; the server continues by itself"
        case (.full, _): "free space on the disk of the database; the server continues by itself"
        case (.readOnly, _): "allow the server to write to the database"
        case (.damaged, "behind"):
            "the database lacks acknowledged events: stop all servers and run watchword-server restore "
                + "without FILE"
        case (.damaged, _): damaged
        case (.newer, _): "install the version of watchword-server that created the database"
        }
    }

    private static let damaged =
        "check that the key file belongs to the database, run watchword-server audit verify, and restore a "
        + "backup if rows were changed"
}
