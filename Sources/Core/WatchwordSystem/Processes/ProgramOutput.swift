/// The output of another program.
public enum ProgramOutput {
    /// Runs a program without input and returns what it writes to its standard output, which may be
    /// secret.
    ///
    /// - Parameters:
    ///   - arguments: the arguments after the program's name.
    ///   - environment: the names of the variables that it inherits.
    ///   - limit: how many bytes it may write.
    ///   - timeout: after this time, it is killed.
    /// - Returns: `nil` if it takes too long or writes too much, or if an interrupting signal that the
    ///   caller holds back arrives in the meantime.
    public static func of(
        _ path: String, _ arguments: [String], environment: [String], limit: Int,
        timeout: Duration
    ) throws(SystemCallFailure) -> WipedBuffer? {
        let child = try ChildProcess(
            running: path, arguments: arguments, environment: Environment.variables(environment))
        let output = try WipedBuffer(capacity: limit + 1)
        var remaining = timeout
        while output.count <= limit {
            let progress = try output.append { output throws(SystemCallFailure) in
                try child.output.readAvailable(into: &output)
            }
            switch progress {
            case .ended: return output
            case .moved: break
            case .wouldWait:
                guard remaining > .zero, !SignalQueue.holdsBackInterruption() else { return nil }
                remaining -= try Polling.wait(
                    for: [.reading(child.output)], timeout: min(remaining, .seconds(1)))
            }
        }
        return nil
    }
}
