import Glibc
import TestSupport
import Testing

private let ready = "\\002\\000\\000\\000\\001\\003"
private let granted = "\\002\\000\\000\\000\\004\\000"

/// The bytes that a program sends, and the expected outcome.
private let liesAndThoughts: [(String, String)] = [
    ("", "ended"), (ready, "ended"), (granted, "nonsense"),
    ("\(ready)\(ready)\(granted)", "nonsense"),
    ("\\002\\000\\000\\000\\001\\001\(granted)", "otherVersion"),
    ("\(ready)\\002\\000\\000\\000\\004", "ended"),
    ("\(ready)\\003\\000\\000\\000\\004\\000\\000", "nonsense"),
    ("\(ready)\\002\\000\\000\\000\\004\\011", "nonsense"),
    ("\(ready)\\001\\000\\000\\000\\004", "nonsense"),
    ("\(ready)\\002\\000\\000\\000\\007\\000", "nonsense"),
    ("\(ready)\\000\\000\\000\\000", "nonsense"),
    ("\(ready)\\377\\377\\377\\377", "nonsense"),
    ("\(ready)\\004\\000\\000\\000\\004\\002\\010x", "nonsense"),
    // A timeout, which only this side finds out.
    ("\(ready)\\003\\000\\000\\000\\004\\002\\000", "nonsense"),
    // A message that is not UTF-8.
    ("\(ready)\\007\\000\\000\\000\\002\\000\\000\\000\\001\\377\\000", "nonsense"),
]

/// Programs in place of `watchword-presence` that break the protocol.
struct LyingProgramTests {
    private func ask(_ said: String) throws -> String {
        let folder = try TemporaryFolder()
        let script = "#!/bin/sh\nprintf '\(said)'\n"
        let path = try folder.write(Array(script.utf8), to: "program")
        try setMode(0o700, of: path)
        return try blindly(asking: path)
    }

    @Test(
        "a program that follows the protocol is accepted")
    func sound() throws {
        #expect(try ask(ready + granted) == "outcome: present\n")
    }

    @Test("a program that breaks the protocol returns no verdict", arguments: liesAndThoughts)
    func lies(_ said: String, _ reason: String) throws {
        let outcome = try ask(said)
        #expect(outcome.hasPrefix("outcome: \(reason)"))
        #expect(outcome.hasSuffix("may hide: false\n"))
    }

    @Test("there is no verdict if the program is missing or cannot be run")
    func missing() throws {
        let folder = try TemporaryFolder()
        #expect(try blindly(asking: folder.file("none")).contains("programNotFound"))
        let path = try folder.write([], to: "program")
        try setMode(0o600, of: path)
        #expect(try blindly(asking: path).contains("posix_spawn"))
    }

    @Test("the installed program refuses all arguments except --help and --version")
    func installed() throws {
        let program = ForeignProgram(path: BuiltProgram.path("watchword-presence"))
        #expect(try program.run(["/tmp"]).status == 2)
        #expect(try program.run(["--version"]).text.hasPrefix("watchword-presence "))
        #expect(try program.run(["--help"]).text.contains("PAM"))
    }
}
