import TestSupport

/// `strace`, which traces a program's system calls and can make them fail.
struct Strace {
    let program: ForeignProgram

    /// Whether `strace` is installed and may trace a program; some containers do not permit this.
    static let canTrace: Bool = {
        do {
            let outcome = try ForeignProgram("strace")?.run(["-o", "/dev/null", "true"])
            return outcome?.status == 0
        } catch {
            return false
        }
    }()

    init?() {
        guard let found = ForeignProgram("strace") else { return nil }
        program = found
    }

    /// The system calls of all threads of an undisturbed program, in order.
    func calls(of command: [String]) throws -> [Substring] {
        let log = try TemporaryFolder()
        let outcome = try program.run(["-f", "-o", log.file("calls")] + command)
        guard outcome.status == 0 else { throw StraceError.failed(outcome.status) }
        return String(decoding: try log.bytes(of: "calls"), as: UTF8.self)
            .split(separator: "\n")
            // Each line begins with the thread's number.
            .map { $0.drop { $0.isNumber || $0 == " " } }
    }

    /// Runs a program and injects `fault` into the `time`th call of `name` in any thread; if `path`
    /// is given, only calls on this file count.
    func run(
        _ command: [String], fault: String, at name: String, time: String, on path: String? = nil
    ) throws -> ForeignProgram.Outcome {
        try program.run(
            ["-f", "-o", "/dev/null", "-e", "trace=\(name)"] + (path.map { ["-P", $0] } ?? [])
                + ["-e", "inject=\(name):\(fault):when=\(time)"] + command)
    }
}

enum StraceError: Error { case failed(Int32) }

extension Strace {
    /// Kills a program at the first call of `name`, then at the second call, and so on, until it
    /// runs to completion.
    ///
    /// - Parameter prepare: prepares the files for the next run and returns its command.
    /// - Parameter check: checks the files and the output of a run.
    /// - Returns: the number of killed runs.
    func killAtEach(
        _ name: String, prepare: () throws -> [String],
        check: (ForeignProgram.Outcome) throws -> Void
    ) throws -> Int {
        var killed = 0
        while true {
            let command = try prepare()
            let outcome = try run(
                command, fault: "signal=KILL", at: name, time: "\(killed + 1)")
            try check(outcome)
            if outcome.status == 0 { return killed }
            killed += 1
        }
    }
}
