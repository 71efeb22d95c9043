import Foundation
import TestSupport
import Testing

@testable import CommandLineInterface
@testable import Commands
@testable import EnrolCommands
@testable import ServerCommands

/// The completions of both programs, from the table of commands and in real shells.
struct CompletionTests {
    private func answer<Verb: ProgramVerb>(
        _: Verb.Type, _ shell: String, _ words: [String]
    ) throws -> [String] {
        let line = [Verb.program] + words
        let request = try ArgumentParser<Verb>.parse(
            ["__complete", shell, "\(words.count)"] + line)
        guard case .completions(let lines) = request else { return ["not a completion"] }
        return lines
    }

    @Test("every command and every option is completed, with its description")
    func completeness() throws {
        try checkAll(Commands.Verb.self)
        try checkAll(ServerVerb.self)
        try checkAll(EnrolVerb.self)
    }

    private func checkAll<Verb: ProgramVerb>(_ table: Verb.Type) throws {
        let help = Verb.documents.help
        for verb in Verb.allCases {
            let words = verb.name.split(separator: " ").map(String.init)
            let offered = try answer(table, "zsh", words.dropLast() + [""])
            #expect(offered.contains("\(words[words.count - 1])\t\(help[verb.name].summary)"))
            let options = try answer(table, "fish", words + ["-"])
            for option in verb.entry.options + Verb.global {
                let summary = help.summary(of: option, for: verb.name)
                #expect(options.contains("--\(option.name)\t\(summary)"), "\(verb.name)")
                if let short = option.short {
                    #expect(options.contains("-\(short)\t\(summary)"), "\(verb.name)")
                }
            }
        }
    }

    @Test(
        "a completion depends on the words before it",
        arguments: [
            (["help", "slot", ""], ["list", "add", "remove"]),
            (["slot", "--json", "r"], ["remove"]),
            (["list", "--json", "--js"], []), (["list", "--js"], ["--json"]),
            // After two dashes, only operands can follow.
            (["qr", "read", "--", "--y"], ["\tfiles"]),
            (["slot", "add", "--", "r"], ["recovery-key"]),
            // No command takes that many operands.
            (["slot", "add", "passphrase", ""], []), (["completions", "zsh", ""], []),
            (["frobnicate", ""], []), (["slot", "frobnicate", ""], []),
            // The kind of option depends on the command.
            (["show", "--qr", ""], ["\tnames", "", "0", "", "--names"]),
            (["add", "--qr", ""], ["\tfiles"]),
            (["help", "he"], []),
            // The shell gets the names of entries by running the command for names.
            (["verify", "1", ""], ["\tnames", "", "0", "", "--names"]),
            (
                ["code", "Git", ":", "a", "--vault", "x", "Mail", ":", "b"],
                ["\tnames", "Mail:b", "5", "", "--names", "--vault", "x"]
            ),
            // The command for names also prints the tags.
            (["list", "--tag", "wo"], ["\tnames", "wo", "0", "", "--tags"]),
            (
                ["edit", "x", "--vault", "v", "--untag", "=", "wo"],
                ["\tnames", "--untag=wo", "8", "--untag=", "--tags", "--vault", "v"]
            ),
            // bash splits words at some characters, and replaces only the text after the last of
            // these characters.
            (["totp", "--algorithm", "=", "SHA2"], ["SHA256"]),
            (["totp", "--algorithm", "="], ["SHA1", "SHA256", "SHA512"]),
            (["add", "--qr", "=", "pic"], ["\tfiles"]),
            (["add", "--issuer", "=", "a", "@", "b", ":", "c", "--ty"], ["--type"]),
            (["list", "--json", "=", ""], []), (["list", "--nonsense", "="], []),
        ])
    func context(_ words: [String], _ expected: [String]) throws {
        #expect(try answer(Commands.Verb.self, "bash", words) == expected)
    }

    @Test("completions for zsh and fish are whole words, which the shell itself filters")
    func wholeWords() throws {
        let words = ["totp", "--algorithm=sha2"]
        let all = ["--algorithm=SHA1", "--algorithm=SHA256", "--algorithm=SHA512"]
        #expect(try answer(Commands.Verb.self, "zsh", words) == all)
        #expect(try answer(Commands.Verb.self, "fish", words) == all)
    }

    @Test("zsh and fish receive the option that lists the words, and fish also the preceding text")
    func listings() throws {
        let words = ["export", "--only=wo"]
        #expect(try answer(Commands.Verb.self, "zsh", words) == ["\tnames", "--tags"])
        #expect(try answer(Commands.Verb.self, "fish", words) == ["\tnames", "--only=", "--tags"])
        let names = try answer(Commands.Verb.self, "fish", ["code", "g"])
        #expect(names == ["\tnames", "", "--names"])
    }

    @Test(
        "an invalid completion request is refused",
        arguments: [
            [], ["bash"], ["bash", "1"], ["bash", "1", "x"], ["bash", "0", "x", "y"],
            ["bash", "-1", "x", "y"], ["bash", "2", "x", "y"], ["bash", "one", "x", "y"],
            ["csh", "1", "x", "y"],
        ])
    func refusal(_ arguments: [String]) {
        #expect(throws: UsageError.reservedForShells("__complete")) {
            try ArgumentParser<Commands.Verb>.parse(["__complete"] + arguments)
        }
    }

    @Test(
        "a completion opens neither the vault nor the terminal",
        .enabled(if: ForeignProgram.canTrace, "strace cannot trace programs here"))
    func noVault() throws {
        let folder = try TemporaryFolder()
        let vault = try folder.write([], to: "my.vault")
        let strace = try #require(ForeignProgram("strace"))
        let outcome = try strace.run(
            [
                "-f", "-e", "trace=%file", BuiltProgram.path("watchword"), "__complete", "bash",
                "4", "watchword", "--vault", vault, "code", "git",
            ], environment: ["HOME": folder.path, "WATCHWORD_VAULT": vault])
        #expect(outcome.status == 0)
        #expect(outcome.text == "\tnames\ngit\n0\n\n--names\n--vault\n\(vault)\n")
        let calls = String(decoding: outcome.errors, as: UTF8.self).split(separator: "\n")
            .filter { !$0.contains("execve(") }
        #expect(calls.contains { $0.contains("open") })
        for path in [folder.path, "/dev/tty"] {
            #expect(!calls.contains { $0.contains(path) }, "\(path)")
        }
    }
}
