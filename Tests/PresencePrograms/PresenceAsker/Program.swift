import Devices
import WatchwordSystem

/// Checks presence as `watchword` does, and prints the outcome: `PresenceAsker PROGRAM
/// MILLISECONDS`.
@main struct Program {
    static func main() throws {
        try ProcessHardening.apply()
        let arguments = CommandLine.arguments
        guard arguments.count == 3, let milliseconds = Int(arguments[2]) else {
            ProcessEnd.atOnce(with: 2)
        }
        try tell(PAMCheck(path: arguments[1], timeout: .milliseconds(milliseconds)))
    }

    private static func tell(_ check: PAMCheck) throws {
        let outcome: String
        do {
            let isPresent = try check.isPresent(for: "Show the \u{1B}code:")
            outcome = isPresent ? "present" : "absent"
        } catch {
            outcome = "\(error.reason), may hide: \(error.mayConcealAttempt)"
        }
        try StandardStream.output.write(Array("outcome: \(outcome)\n".utf8).span)
    }
}
