import Foundation
import TestSupport
import Testing

/// A file of shell commands with their expected results.
///
/// A line that begins with `$ ` is a command. The lines after it are its standard output, or its
/// standard error if they begin with `! `. A line such as `= 3` is its exit status, 0 by default.
/// `…` matches anything within a line, and `#` begins a comment. `# agent: no: REASON` says why the
/// next step is never run through an agent (``TranscriptAgent``), and `# agent: none: REASON` why no
/// step can be.
///
/// On a terminal, `> question|answer` is a question and what the user types, and
/// `>* question|answer` is one without echo.
struct Transcript {
    struct Step {
        let line: Int
        let command: String
        let allowsAgent: Bool
        var output: [String] = []
        var errors: [String] = []
        var status: Int32 = 0
        var questions: [Question] = []
    }

    /// A question on a terminal.
    struct Question {
        let text: String
        let answer: String
        let isEchoed: Bool

        init?(_ line: String) {
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

    let name: String
    let steps: [Step]
    /// Whether any step runs through an agent if there is one.
    let usesAgent: Bool

    static let folder = PackageFolder.root.appending(path: "Vectors/transcripts")

    /// The names of all transcripts.
    static func all() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder.path)
            .filter { $0.hasSuffix(".transcript") }.sorted()
    }

    struct Malformed: Error { let line: Int }

    init(named name: String) throws {
        self.name = name
        let text = try String(contentsOf: Transcript.folder.appending(path: name), encoding: .utf8)
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
            let last = steps.count - 1
            if line.hasPrefix("! ") {
                steps[last].errors.append(String(line.dropFirst(2)))
            } else if let question = Question(String(line)) {
                steps[last].output.append(question.line)
                steps[last].questions.append(question)
            } else if line.hasPrefix("= "), let status = Int32(line.dropFirst(2)) {
                steps[last].status = status
            } else {
                steps[last].output.append(String(line))
            }
        }
        self.steps = steps
        self.usesAgent = usesAgent
    }

    /// Runs a command in `folder` with a minimal environment and without a terminal.
    static func run(
        _ command: String, in folder: TemporaryFolder, through agent: TranscriptAgent? = nil
    ) throws -> ForeignProgram.Outcome {
        let programs = URL(filePath: BuiltProgram.path("watchword")).deletingLastPathComponent()
            .path
        let folders = [agent?.programs, programs, "/usr/bin", "/bin"].compactMap { $0 }
        // A new session has no controlling terminal.
        return try ForeignProgram(path: "/usr/bin/setsid").run(
            ["--wait", "/bin/sh", "-c", "cd '\(folder.path)'\n\(command)"],
            environment: [
                "PATH": folders.joined(separator: ":"), "HOME": folder.path, "LC_ALL": "C.UTF-8",
                // The results must not depend on this machine's clock.
                "WATCHWORD_CLOCK_WARNING": "off",
            ])
    }

    /// Whether the lines of `text` match `expected`.
    static func matches(_ text: [UInt8], _ expected: [String]) -> Bool {
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

struct TranscriptTests {
    @Test(
        "the program's output and status match the transcript, with an agent and without one",
        arguments: try Transcript.all(), [false, true])
    func transcript(_ name: String, usesAgent: Bool) throws {
        let folder = try TemporaryFolder()
        let agent = usesAgent ? try TranscriptAgent() : nil
        let transcript = try Transcript(named: name)
        for step in transcript.steps {
            let outcome = try Transcript.run(
                step.command, in: folder, through: step.allowsAgent ? agent : nil)
            let place = "\(name), line \(step.line): \(step.command)"
            #expect(outcome.status == step.status, "\(place)")
            #expect(
                Transcript.matches(outcome.output, step.output),
                "\(place)\nprinted:\n\(outcome.text)")
            #expect(
                Transcript.matches(outcome.errors, step.errors),
                "\(place)\nsaid:\n\(String(decoding: outcome.errors, as: UTF8.self))")
        }
        // If the shell could not start the agent's program, it would run the real one.
        if let agent { #expect(agent.wasUsed == transcript.usesAgent, "\(name)") }
    }
}
