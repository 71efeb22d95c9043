import POSIX
import Presence
import PresenceDevices
import TestSupport
import Testing

struct PassphraseCheckTests {
    private struct OutOfMemory: Error, Equatable {}

    private func isPresent(_ file: String) throws -> Bool {
        try PassphraseCheck(from: .file(file)) { bytes throws(Never) in
            bytes.indices.map { bytes[$0] } == Array("right".utf8)
        }.isPresent(for: "anything")
    }

    @Test(
        "the first line of the file is tried, without its end",
        arguments: [
            ("right", true), ("right\n", true), ("right\r\n", true), ("right\nwrong\n", true),
            ("wrong\nright\n", false), ("\n", false), ("right\r", false), ("righ", false),
        ])
    func file(_ content: String, isRight: Bool) throws {
        let folder = try TemporaryFolder()
        #expect(try isPresent(folder.write(Array(content.utf8), to: "pass")) == isRight)
    }

    @Test("what gives no passphrase says why, and hides no attempt")
    func noPassphrase() throws {
        let folder = try TemporaryFolder()
        func expect(_ error: InputFileError, of file: String) {
            let failure = PassphraseCheckFailure<Never>.source(.input(error))
            #expect(throws: failure) { try isPresent(file) }
            #expect(!failure.mayHideAttempt)
        }
        expect(.missing, of: folder.file("none"))
        expect(.folder, of: folder.path)
        expect(.empty, of: try folder.write([], to: "empty"))
        expect(.notAFile, of: "/dev/zero")
        let longest = [UInt8](repeating: 7, count: 1 << 16)
        #expect(try isPresent(folder.write(longest + [10, 8], to: "longest")) == false)
        expect(.tooLarge(limit: 1 << 16), of: try folder.write(longest + [7], to: "longer"))
    }

    @Test("a passphrase that can't be tried is neither right nor wrong")
    func trialFailure() throws {
        let folder = try TemporaryFolder()
        let path = try folder.write([1], to: "pass")
        let check = PassphraseCheck(from: .file(path)) { _ throws(OutOfMemory) in
            throw OutOfMemory()
        }
        #expect(throws: PassphraseCheckFailure.trial(OutOfMemory())) {
            try check.isPresent(for: "")
        }
    }

    @Test("a right passphrase makes a cryptographic proof")
    func grade() throws {
        let folder = try TemporaryFolder()
        let path = try folder.write([1], to: "pass")
        var check = PassphraseCheck(from: .file(path)) { _ throws(Never) in true }
        let purpose = PresencePurpose("x")
        let proof: PresenceProof<Cryptographic>? = try check.prove(for: purpose)
        guard let proof else {
            Issue.record("no proof of a yes")
            return
        }
        try proof.spend(on: purpose)
    }

    @Test(
        "the terminal is asked after the purpose, unseen",
        arguments: [("right", true), ("x", false)])
    func terminal(_ typed: String, isRight: Bool) throws {
        let terminal = try PseudoTerminal(
            "PresenceAsker passphrase right", in: TemporaryFolder())
        try terminal.waitFor("Passphrase: ")
        #expect(terminal.screen.contains("Show the \\u{1B}code:\r\nPassphrase: "))
        #expect(try terminal.settings().echoes == false)
        terminal.clear()
        try terminal.type(typed + "\n")
        #expect(try terminal.end() == 0)
        #expect(terminal.screen.contains("outcome: \(isRight ? "present" : "absent")"))
        #expect(!terminal.screen.contains(typed))
        #expect(try terminal.settings().echoes)
    }

    @Test("Ctrl-D, and no terminal, are no answer")
    func noAnswer() throws {
        let terminal = try PseudoTerminal(
            "PresenceAsker passphrase right", in: TemporaryFolder())
        try terminal.waitFor("Passphrase: ")
        try terminal.type("\u{4}")
        #expect(try terminal.end() == 0)
        #expect(terminal.screen.contains("TerminalError.ended"))
        let setsid = try #require(ForeignProgram("setsid"))
        let asker = BuiltProgram.path("PresenceAsker")
        let outcome = try setsid.run(["--wait", asker, "passphrase", "right"])
        #expect(outcome.text.contains("TerminalError.none"))
    }
}
