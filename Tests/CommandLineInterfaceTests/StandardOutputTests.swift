import TestSupport
import Testing

/// The behaviour of both command lines if standard output cannot be written.
struct StandardOutputTests {
    private static let programs = ["watchword", "watchword-server"]

    /// Runs a shell command in which `$0` is the program.
    private func run(_ command: String, _ name: String) throws -> ForeignProgram.Outcome {
        let bash = try #require(ForeignProgram("bash"))
        return try bash.run(["-c", command, BuiltProgram.path(name)])
    }

    @Test("a closed pipe ends the program with SIGPIPE and without a message", arguments: programs)
    func closedPipe(_ name: String) throws {
        // The reader ends before the program starts.
        let outcome = try run("exec 3> >(exec true); wait $!; \"$0\" manual >&3", name)
        #expect(outcome.status == 128 + 13)
        #expect(outcome.errors == [])
    }

    @Test(
        "a full disk or a closed standard output is reported, with status 6",
        arguments: programs, [">/dev/full", ">&-"])
    func failure(_ name: String, _ redirection: String) throws {
        let outcome = try run("\"$0\" manual \(redirection)", name)
        #expect(outcome.status == 6)
        let message = String(decoding: outcome.errors, as: UTF8.self)
        #expect(message.hasPrefix("\(name): standard output: "))
        #expect(message.hasSuffix(" (write)\n"))
    }

    @Test("an unknown command is reported under the program's name", arguments: programs)
    func usage(_ name: String) throws {
        let outcome = try run("\"$0\" frobnicate", name)
        #expect(outcome.status == 2)
        #expect(outcome.text == "")
        let message = String(decoding: outcome.errors, as: UTF8.self)
        #expect(
            message == "\(name): unknown command “frobnicate”; see \(name) --help\n")
    }

    @Test(
        "with --json, an invalid command line yields a JSON object, except for shell completion",
        arguments: programs)
    func json(_ name: String) throws {
        let outcome = try run("\"$0\" frobnicate --json", name)
        #expect(outcome.status == 2)
        #expect(
            outcome.text == #"{"message":"unknown command “frobnicate”; see \#(name) --help","#
                + #""result":"failed","status":2}"# + "\n")
        let completion = try run("\"$0\" __complete bash 9 --json", name)
        #expect(completion.status == 2 && completion.text == "")
    }
}
