package import ProcessConfinement
package import WatchwordSystem

/// The messages about helper programs that `watchword` and `watchword-server` print.
package enum HelperMessages {
    /// The sentence for a file that a helper could not read.
    ///
    /// - Parameters:
    ///   - file: The noun for the file.
    ///   - reader: The noun for the process that read it.
    package static func sentence(for loss: HelperLoss, file: String, reader: String) -> String {
        switch loss {
        case .crashed(let signal): "the \(file) crashed the \(reader) (signal \(signal))"
        case .forbiddenCall: "the \(file) made the \(reader) attempt a forbidden system call"
        case .timedOut: "the \(file) took too long to read"
        case .tooMuchMemory: "the \(file) needs too much memory to read"
        case .badAnswer: "the \(reader) sent an invalid response"
        case .noAnswer: "the \(reader) ended without a response; try again"
        }
    }

    /// The sentence for a helper that did not start or that failed.
    ///
    /// - Parameters:
    ///   - program: The helper.
    ///   - starter: The program that starts it.
    ///   - unconfined: The effect if the helper cannot confine itself: what was not done.
    package static func sentence(
        for failure: HelperFailure, of program: String, startedBy starter: String,
        unconfined: String
    ) -> String {
        switch failure {
        case .notFound: "\(program) is not installed beside \(starter); reinstall Watchword"
        case .cannotStart(let failure): "\(program) cannot start: " + sentence(for: failure)
        case .notConfined(let failure):
            "\(program) could not be sandboxed, so \(unconfined): " + sentence(for: failure)
        case .otherVersion:
            "\(program) and \(starter) have different versions; reinstall Watchword"
        case .died(let ending): "\(program) ended unexpectedly (\(describe(ending)))"
        case .system(let failure): sentence(for: failure)
        }
    }

    /// The sentence for a helper that reads files, and that did not start or that failed.
    ///
    /// - Parameters:
    ///   - program: `watchword-reader` or `watchword-exports`.
    ///   - starter: The program that starts it.
    package static func sentence(
        forReader failure: HelperFailure, _ program: String, startedBy starter: String
    ) -> String {
        if case .died = failure {
            return "\(program) exited immediately; a library may be missing"
        }
        return sentence(
            for: failure, of: program, startedBy: starter, unconfined: "nothing was read")
    }

    /// The sentence for a system call that failed.
    package static func sentence(for failure: SystemCallFailure) -> String {
        "\(failure.reason) (\(failure.call))"
    }

    private static func describe(_ ending: ChildProcess.Ending) -> String {
        switch ending {
        case .exited(let status): "status \(status)"
        case .crashed(let signal): "signal \(signal)"
        case .forbiddenCall: "forbidden system call"
        case .processorTimeSpent: "CPU time limit reached"
        case .killed: "killed"
        case .unknown: "unknown cause"
        }
    }
}
