import POSIX
import Presence
import PresenceDevices

/// Asks as `watchword` does, and prints what came of it: `PresenceAsker pam PROGRAM MILLISECONDS`, or
/// `PresenceAsker passphrase PASSPHRASE`.
@main struct Program {
    static func main() throws {
        try ProcessHardening.apply()
        let arguments = CommandLine.arguments.dropFirst()
        switch arguments.first {
        case "pam":
            guard arguments.count == 3, let milliseconds = Int(arguments[3]) else { break }
            try tell(
                PAMCheck(path: arguments[2], patience: .milliseconds(milliseconds)))
        case "passphrase":
            let right = Array(arguments[2].utf8)
            try tell(
                PassphraseCheck(from: .terminal(prompt: "Passphrase: ")) { bytes throws(Never) in
                    bytes.indices.map { bytes[$0] } == right
                })
        default: break
        }
    }

    private static func tell(_ check: some PresenceCheck) throws {
        var check = check
        var outcome: String
        do {
            let isPresent = try check.isPresent(for: "Show the \u{1B}code:")
            outcome = isPresent ? "present" : "absent"
        } catch {
            outcome = "\(error)"
            if let failure = error as? PAMCheckFailure {
                outcome = "\(failure.reason), may hide: \(failure.mayHideAttempt)"
            }
        }
        try StandardStream.output.write(Array("outcome: \(outcome)\n".utf8).span)
    }
}
