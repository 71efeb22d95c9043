internal import Foundation

/// A file of shell commands with their expected results.
///
/// A line that begins with `$ ` is a command. The lines after it are its standard output, or its
/// standard error if they begin with `! `. A line such as `= 3` is its exit status, 0 by default.
/// `…` matches anything within a line, and `#` begins a comment. `# agent: no: REASON` says why the
/// next step is never run through an agent, and `# agent: none: REASON` why no
/// step can be.
///
/// On a terminal, `> question|answer` is a question and what the user types, and
/// `>* question|answer` is one without echo.
public struct Transcript: Sendable {
    /// A command and its results.
    public struct Step: Sendable {
        /// The number of its line.
        public let line: Int
        /// The command, for a shell.
        public let command: String
        /// Whether the command may run through an agent.
        public let allowsAgent: Bool
        /// The lines of its standard output, or of the screen.
        public private(set) var output: [String] = []
        /// The lines of its standard error.
        public private(set) var errors: [String] = []
        /// The exit status of the command.
        public private(set) var status: Int32 = 0
        /// The questions that the command asks on a terminal.
        public private(set) var questions: [Question] = []

        fileprivate init(line: Int, command: String, allowsAgent: Bool) {
            self.line = line
            self.command = command
            self.allowsAgent = allowsAgent
        }

        fileprivate mutating func add(_ text: String) {
            if text.hasPrefix("! ") {
                errors.append(String(text.dropFirst(2)))
            } else if let question = Question(text) {
                output.append(question.line)
                questions.append(question)
            } else if text.hasPrefix("= "), let number = Int32(text.dropFirst(2)) {
                status = number
            } else {
                output.append(text)
            }
        }
    }

    /// A question on a terminal.
    public struct Question: Sendable {
        /// The text of the question.
        public let text: String
        /// The text that the user types.
        public let answer: String
        let isEchoed: Bool

        fileprivate init?(_ line: String) {
            guard line.hasPrefix("> ") || line.hasPrefix(">* "),
                let end = line.lastIndex(of: "|")
            else { return nil }
            isEchoed = line.hasPrefix("> ")
            text = String(line[..<end].dropFirst(isEchoed ? 2 : 3))
            answer = String(line[end...].dropFirst())
        }

        /// The line of the screen, with the answer.
        var line: String { isEchoed ? text + answer : text }
    }

    /// The steps in order.
    public let steps: [Step]
    /// Whether any step runs through an agent if there is one.
    public let usesAgent: Bool

    private static let root = PackageFolder.root.appending(path: "Vectors/transcripts")

    /// The names of all transcripts in a folder of `Vectors/transcripts`, or next to its folders.
    public static func all(in folder: String = "") throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: root.appending(path: folder).path)
            .filter { $0.hasSuffix(".transcript") }.sorted()
            .map { folder.isEmpty ? $0 : "\(folder)/\($0)" }
    }

    private struct Malformed: Error { let line: Int }

    /// Reads the transcript with this name.
    public init(named name: String) throws {
        let text = try String(contentsOf: Transcript.root.appending(path: name), encoding: .utf8)
        var steps: [Step] = []
        var usesAgent = true
        var allowsAgent = true
        for (index, line) in text.split(separator: "\n", omittingEmptySubsequences: false)
            .enumerated()
        {
            if line.hasPrefix("# agent: none: ") { usesAgent = false }
            if line.hasPrefix("# agent: no: ") { allowsAgent = false }
            if line.isEmpty || line.hasPrefix("#") { continue }
            if line.hasPrefix("$ ") {
                let command = String(line.dropFirst(2))
                steps.append(Step(line: index + 1, command: command, allowsAgent: allowsAgent))
                allowsAgent = true
                continue
            }
            guard !steps.isEmpty else { throw Malformed(line: index + 1) }
            steps[steps.count - 1].add(String(line))
        }
        self.steps = steps
        self.usesAgent = usesAgent
    }

    /// Runs a command in `folder` with a minimal environment and without a terminal.
    ///
    /// - Parameters:
    ///   - replacements: a folder with programs that replace the built ones.
    ///   - variables: additional environment variables.
    public static func run(
        _ command: String, in folder: TemporaryFolder, programs replacements: String? = nil,
        environment variables: [String: String] = [:]
    ) throws -> ForeignProgram.Outcome {
        let programs = URL(filePath: BuiltProgram.path("watchword")).deletingLastPathComponent()
            .path
        let folders = [replacements, programs, "/usr/bin", "/bin"].compactMap { $0 }
        // A new session has no controlling terminal.
        return try ForeignProgram(path: "/usr/bin/setsid").run(
            ["--wait", "/bin/sh", "-c", "cd '\(folder.path)'\n\(command)"],
            environment: [
                "PATH": folders.joined(separator: ":"), "HOME": folder.path, "LC_ALL": "C.UTF-8",
                // The results must not depend on this machine's clock.
                "WATCHWORD_CLOCK_WARNING": "off",
            ].merging(variables) { $1 })
    }

    /// Whether the lines of `text` match `expected`.
    public static func matches(_ text: [UInt8], _ expected: [String]) -> Bool {
        var lines = String(decoding: text, as: UTF8.self)
            .split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        if lines.last == "" { lines.removeLast() }
        return lines.count == expected.count && zip(lines, expected).allSatisfy(matches)
    }

    private static func matches(_ line: String, _ pattern: String) -> Bool {
        let parts = pattern.components(separatedBy: "…")
        guard parts.count > 1 else { return line == pattern }
        guard line.hasPrefix(parts[0]) else { return false }
        var rest = line.dropFirst(parts[0].count)
        for part in parts.dropFirst().dropLast() {
            guard let found = rest.range(of: part) else { return false }
            rest = rest[found.upperBound...]
        }
        return rest.hasSuffix(parts[parts.count - 1])
    }
}

extension Transcript.Step {
    /// Runs the command on a terminal and types the answers.
    ///
    /// - Parameter answer: what to type, given the question and what was shown before the answer.
    /// - Returns: the exit status, and everything that the terminal showed.
    public func run(
        on terminal: PseudoTerminal,
        answering answer: (Transcript.Question, String) throws -> String = { question, _ in
            question.answer
        }
    ) throws -> (status: Int32, shown: String) {
        var shown = ""
        for question in questions {
            try terminal.waitFor(question.text)
            shown += terminal.screen
            terminal.clear()
            try terminal.type(answer(question, shown) + "\n")
        }
        let status = try terminal.end()
        return (status, (shown + terminal.screen).replacing("\r\n", with: "\n"))
    }
}
