import TestSupport

/// `strace`, which shows a program's system calls, and disturbs them one by one.
struct Strace {
    let program: ForeignProgram

    /// Whether it is there and may trace a program; some containers forbid it.
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

    /// The calls of all threads of a program that is not disturbed, in their order.
    func calls(of command: [String]) throws -> [Substring] {
        let log = try TemporaryFolder()
        let outcome = try program.run(["-f", "-o", log.file("calls")] + command)
        guard outcome.status == 0 else { throw StraceError.failed(outcome.status) }
        return String(decoding: try log.bytes(of: "calls"), as: UTF8.self)
            .split(separator: "\n")
            // Each line begins with the number of the thread.
            .map { $0.drop { $0.isNumber || $0 == " " } }
    }

    /// Runs a program and does `fault` to the call `name` whenever a thread makes it for the
    /// `time`th time; on the file at `path` alone, if one is named.
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
    /// Kills a program when a thread makes the call `name` for the first time, then for the second
    /// time, and so on, until it is through.
    ///
    /// - Parameter prepare: makes what the next run works on; the words of its command.
    /// - Parameter check: looks at what a run left behind, and what it said.
    /// - Returns: how many runs were killed.
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
