import Foundation
import Glibc
import TestSupport
import Testing
import WatchwordSystem

/// A stack of real PAM modules in its own folder, and the program that runs them.
final class Stack {
    let folder: TemporaryFolder

    /// The module of `Tests/PresencePrograms/StrangeModule`, compiled once for all tests.
    static let strange = Result {
        let compiler = try #require(
            ForeignProgram("clang") ?? ForeignProgram("cc"), "no C compiler in PATH")
        let source = PackageFolder.root.appending(
            path: "Tests/PresencePrograms/StrangeModule/strange.c")
        let made = BuiltProgram.testFile("pam_strange.\(getpid()).so")
        let compiled = try compiler.run([
            "-shared", "-fPIC", "-Wall", "-Wextra", "-Werror", "-o", made, source.path, "-lpam",
        ])
        try #require(compiled.status == 0, "\(String(decoding: compiled.errors, as: UTF8.self))")
        // Two concurrent test runs must not write to each other's file.
        let path = BuiltProgram.testFile("pam_strange.so")
        try #require(unsafe rename(made, path) == 0)
        return path
    }

    /// Writes the service file with `lines`, or no file if there are none.
    init(_ lines: [String]) throws {
        folder = try TemporaryFolder()
        try makeFolder(folder.file("pam.d"))
        if !lines.isEmpty {
            let text = lines.map { $0 + "\n" }.joined()
            try folder.write(Array(text.utf8), to: "pam.d/watchword")
        }
        try linkSymbolically(BuiltProgram.path("StackedPresence"), to: program)
    }

    /// A stack of the strange module alone, which performs `what`.
    convenience init(strange what: String, account: String = "") throws {
        let module = try Stack.strange.get()
        try self.init(["auth required \(module) \(what)", "account required \(module) \(account)"])
    }

    /// The path of the program that runs the modules.
    var program: String { folder.file("presence") }

    /// Asks on a terminal; the test types the answers.
    func askOnTerminal(timeout: Duration = .seconds(60)) throws -> PseudoTerminal {
        try PseudoTerminal(
            "echo $$; exec PresenceAsker \(program) \(timeout.millisecondsRoundedUp)", in: folder)
    }

    /// Asks without a terminal and returns the outcome.
    func askBlindly(timeout: Duration = .seconds(60)) throws -> String {
        try blindly(asking: program, timeout: timeout)
    }

    struct LeftBehind: Error { let processes: [String] }

    /// Waits until no process that was started with this stack's path is left.
    ///
    /// - Throws: after a minute, so that a remaining process is a failure and not a deadlock.
    func waitUntilGone() throws {
        let end = ContinuousClock.now + .seconds(60)
        while true {
            let left = try Self.processes(naming: program)
            guard !left.isEmpty else { return }
            guard .now < end else { throw LeftBehind(processes: left) }
            usleep(2_000)
        }
    }

    /// The processes that have `text` in their command line; a zombie has no command line.
    static func processes(naming text: String) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: "/proc")
            .filter { $0.allSatisfy(\.isNumber) }
            .filter { number in
                // The process may have ended in the meantime.
                let line = FileManager.default.contents(atPath: "/proc/\(number)/cmdline") ?? Data()
                return String(decoding: line, as: UTF8.self).contains(text)
            }
    }
}

/// Runs a presence check with the program at `path`, without a terminal, and returns the outcome.
func blindly(asking path: String, timeout: Duration = .seconds(60)) throws -> String {
    let setsid = try #require(ForeignProgram("setsid"))
    let outcome = try setsid.run([
        "--wait", BuiltProgram.path("PresenceAsker"), path, String(timeout.millisecondsRoundedUp),
    ])
    return outcome.text
}
