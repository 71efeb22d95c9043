import Foundation
import TestSupport
import Testing

@testable import Arguments
@testable import ServerCommands

/// The help pages, manual page and completions of `watchword-server`, which its table of commands
/// generates.
struct HelpTests {
    @Test(
        "the help page of every command starts with examples that the parser accepts",
        arguments: ServerVerb.allCases)
    func pages(_ verb: ServerVerb) throws {
        let lines = HelpPage.of(verb).split(separator: "\n")
        #expect(lines[0] == "Examples:")
        #expect(lines.allSatisfy { $0.count <= 100 })
        for example in verb.page.examples {
            #expect(example.hasPrefix("watchword-server \(verb.name)"))
            let words = example.prefix { !"|<>".contains($0) }.split(separator: " ")
            let request = try ArgumentParser<ServerVerb>.parse(words.dropFirst().map(String.init))
            guard case .run(let understood, _) = request else {
                Issue.record("rejected: \(example)")
                continue
            }
            #expect(understood.name == verb.name)
        }
    }

    @Test("the manual and the completions of each shell contain every command and option")
    func completeness() {
        let pages =
            [ManualPage<ServerVerb>.text]
            + CompletionScript<ServerVerb>.Shell.allCases.map(CompletionScript<ServerVerb>.of)
        for page in pages {
            for verb in ServerVerb.allCases {
                for word in verb.name.split(separator: " ") { #expect(page.contains(word)) }
                for option in verb.page.options { #expect(page.contains(option.name)) }
            }
        }
        let statuses = pages[0].split(separator: "\n").filter { $0.hasPrefix(".It ") }
            .compactMap { Int($0.dropFirst(4)) }
        #expect(statuses == [0, 1, 2, 3, 6])
    }

    @Test(
        "mandoc finds no problems in the manual page",
        .enabled(if: ForeignProgram("mandoc") != nil, "mandoc is not installed"))
    func manual() async throws {
        let mandoc = try #require(ForeignProgram("mandoc"))
        let page = try await ServerProcess.State().run("manual")
        #expect(page.status == 0)
        let outcome = try mandoc.run(["-Tlint", "-Wwarning"], input: page.output)
        #expect(outcome.text == "")
        #expect(outcome.status == 0)
    }

    @Test(
        "bash accepts its completion script",
        .enabled(if: ForeignProgram("bash") != nil, "bash is not installed"))
    func bashSyntax() async throws { try await checkSyntax("bash") }

    @Test(
        "zsh accepts its completion script",
        .enabled(if: ForeignProgram("zsh") != nil, "zsh is not installed"))
    func zshSyntax() async throws { try await checkSyntax("zsh") }

    @Test(
        "fish accepts its completion script",
        .enabled(if: ForeignProgram("fish") != nil, "fish is not installed"))
    func fishSyntax() async throws { try await checkSyntax("fish") }

    private func checkSyntax(_ shell: String) async throws {
        let program = try #require(ForeignProgram(shell))
        let script = try await ServerProcess.State().run("completions", shell)
        #expect(script.status == 0)
        let outcome = try program.run(["-n", "/dev/stdin"], input: script.output)
        #expect(outcome.status == 0)
        #expect(outcome.errors == [])
    }

    @Test(
        "bash completes commands, options, their values and files",
        .enabled(if: ForeignProgram("bash") != nil, "bash is not installed"),
        arguments: [
            ("watchword-server ke", ["keys"]), ("watchword-server keys r", ["rotate", "retire"]),
            ("watchword-server serve --prof", ["--profile"]),
            ("watchword-server serve --profile ", ["strict", "rfc", "wide"]),
            ("watchword-server restore cop", ["copy.db"]),
            ("watchword-server restore --ended cop", ["copy.db"]),
            ("watchword-server audit ", ["verify", "ended"]),
            ("watchword-server completions ", ["bash", "zsh", "fish"]),
        ])
    func bash(_ line: String, _ words: [String]) throws {
        let bash = try #require(ForeignProgram("bash"))
        let folder = try TemporaryFolder()
        try folder.write([], to: "copy.db")
        let typed = line.split(separator: " ", omittingEmptySubsequences: false)
        let script = """
            cd '\(folder.path)'
            \(CompletionScript<ServerVerb>.bash)
            COMP_WORDS=(\(typed.map { "'\($0)'" }.joined(separator: " ")))
            COMP_CWORD=\(typed.count - 1)
            _watchword_server
            printf '%s\\n' "${COMPREPLY[@]}"
            """
        let outcome = try bash.run(["-c", script])
        #expect(outcome.text.split(separator: "\n").map(String.init) == words)
    }

    @Test(
        "fish offers the same completions",
        .enabled(if: ForeignProgram("fish") != nil, "fish is not installed"),
        arguments: [
            ("watchword-server ke", ["keys"]), ("watchword-server serve --prof", ["--profile"]),
            ("watchword-server client ", ["add", "list", "renew", "revoke"]),
            ("watchword-server restore cop", ["copy.db"]),
        ])
    func fish(_ line: String, _ words: [String]) throws {
        let fish = try #require(ForeignProgram("fish"))
        let folder = try TemporaryFolder()
        try folder.write([], to: "copy.db")
        let script =
            CompletionScript<ServerVerb>.fish + "\ncd '\(folder.path)'; complete -C '\(line)'"
        let outcome = try fish.run(["--no-config", "-c", script])
        let found = outcome.text.split(separator: "\n").map { String($0.prefix { $0 != "\t" }) }
        #expect(found == words)
    }
}
