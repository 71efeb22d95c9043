import Foundation
import TestSupport
import Testing

@testable import Arguments
@testable import Commands

struct HelpTests {
    @Test(
        "every help page starts with valid examples, and has one line per option",
        arguments: Verb.allCases)
    func pages(_ verb: Verb) throws {
        let lines = HelpPage.of(verb).split(separator: "\n")
        #expect(lines[0] == "Examples:")
        #expect(lines[1].hasPrefix("  watchword "))
        #expect(lines.allSatisfy { $0.count <= 100 })
        for option in verb.page.options {
            #expect(lines.contains { isLine($0, of: option) }, "--\(option.name)")
        }
        for example in verb.page.examples {
            // Omit pipes and redirections, which the shell handles.
            let command = example.prefix { !"|<>".contains($0) }
            let words = command.split(separator: " ").map {
                $0.trimmingCharacters(in: CharacterSet(charactersIn: "'"))
            }
            let joined = joinQuoted(words, in: String(command))
            guard case .run = try ArgumentParser.parse(Array(joined.dropFirst())) else {
                Issue.record("invalid example: \(example)")
                continue
            }
        }
    }

    private func isLine(_ line: Substring, of option: Option) -> Bool {
        line.hasPrefix("  ") && line.contains("--\(option.name) ") && line.hasSuffix(option.summary)
            && line.count <= 80
    }

    @Test("only the program's help page lists the global options, one per line")
    func globalOptions() {
        let lines = HelpPage.ofProgram().split(separator: "\n")
        for option in Verb.global {
            #expect(lines.contains { isLine($0, of: option) }, "--\(option.name)")
            for verb in Verb.allCases {
                #expect(!HelpPage.of(verb).contains("  --\(option.name) "), "\(verb.name)")
            }
        }
    }

    // The only quoted operands are names with one space.
    private func joinQuoted(_ words: [String], in command: String) -> [String] {
        guard command.contains("'"), let at = words.firstIndex(of: "router") else { return words }
        return words[..<at] + [words[at] + " " + words[at + 1]] + words[(at + 2)...]
    }

    @Test("an option that takes a value has the same kind of value in every verb")
    func optionsAgree() {
        var seen: [String: Set<Option.Value>] = [:]
        for option in Verb.allOptions { seen[option.name, default: []].insert(option.value) }
        let double = seen.filter { $0.value.count > 1 }.keys
        #expect(Set(double) == ["qr"])
        let letters = Set(Verb.allOptions.filter { $0.short != nil }.map(\.name))
        #expect(letters == ["quiet", "help", "version", "yes"])
    }

    @Test("the manual and each shell's completions contain every verb and option")
    func completeness() {
        let pages = [ManualPage.text] + CompletionScript.Shell.allCases.map(CompletionScript.of)
        for page in pages {
            for verb in Verb.allCases {
                for word in verb.name.split(separator: " ") { #expect(page.contains(word)) }
                for option in verb.page.options { #expect(page.contains(option.name)) }
            }
        }
    }

    @Test(
        "the manual passes mandoc's checks",
        .enabled(if: ForeignProgram("mandoc") != nil, "mandoc is not installed"))
    func manual() throws {
        let mandoc = try #require(ForeignProgram("mandoc"))
        let outcome = try mandoc.run(
            ["-Tlint", "-Wwarning"], input: Array((ManualPage.text + "\n").utf8))
        #expect(outcome.text == "")
        #expect(outcome.status == 0)
    }

    @Test(
        "bash accepts its completion script",
        .enabled(if: ForeignProgram("bash") != nil, "bash is not installed"))
    func bashSyntax() throws { try check(.bash) }

    @Test(
        "zsh accepts its completion script",
        .enabled(if: ForeignProgram("zsh") != nil, "zsh is not installed"))
    func zshSyntax() throws { try check(.zsh) }

    @Test(
        "fish accepts its completion script",
        .enabled(if: ForeignProgram("fish") != nil, "fish is not installed"))
    func fishSyntax() throws { try check(.fish) }

    private func check(_ shell: CompletionScript.Shell) throws {
        let program = try #require(ForeignProgram(shell.rawValue))
        let outcome = try program.run(
            ["-n", "/dev/stdin"], input: Array(CompletionScript.of(shell).utf8))
        #expect(outcome.status == 0)
        #expect(outcome.errors == [])
    }

    @Test(
        "bash completes verbs, options, choices and files, and never runs the program",
        .enabled(if: ForeignProgram("bash") != nil, "bash is not installed"),
        arguments: [
            ("watchword co", ["code", "completions"]),
            ("watchword slot ", ["list", "add", "remove"]),
            ("watchword code --n", ["--next"]), ("watchword --vault x code --a", ["--at"]),
            ("watchword import --on-duplicate ", ["skip", "replace", "keep"]),
            ("watchword add --qr pic", ["picture.png"]), ("watchword show --qr ", []),
            ("watchword qr read pic", ["picture.png"]),
            ("watchword totp --algorithm SHA2", ["SHA256"]),
            ("watchword add --on-failure ", ["lock-out", "wipe"]),
            ("watchword code ", []), ("watchword completions ", ["bash", "zsh", "fish"]),
        ])
    func bash(_ line: String, _ words: [String]) throws {
        let bash = try #require(ForeignProgram("bash"))
        let folder = try TemporaryFolder()
        try folder.write([], to: "picture.png")
        let typed = line.split(separator: " ", omittingEmptySubsequences: false)
        let script = """
            cd '\(folder.path)'
            watchword() { echo RAN; }
            \(CompletionScript.bash)
            COMP_WORDS=(\(typed.map { "'\($0)'" }.joined(separator: " ")))
            COMP_CWORD=\(typed.count - 1)
            _watchword
            printf '%s\\n' "${COMPREPLY[@]}"
            """
        let outcome = try bash.run(["-c", script])
        #expect(outcome.text.split(separator: "\n").map(String.init) == words)
    }

    @Test(
        "fish completes verbs, options and choices, but no entry names",
        .enabled(if: ForeignProgram("fish") != nil, "fish is not installed"),
        arguments: [
            ("watchword co", ["code", "completions"]), ("watchword code --n", ["--next"]),
            ("watchword slot ", ["add", "list", "remove"]), ("watchword show --qr ", []),
            ("watchword import --on-duplicate r", ["replace"]),
            ("watchword edit --on-failure ", ["lock-out", "wipe"]), ("watchword code ", []),
        ])
    func fish(_ line: String, _ words: [String]) throws {
        let fish = try #require(ForeignProgram("fish"))
        let folder = try TemporaryFolder()
        let script = CompletionScript.fish + "\ncd '\(folder.path)'; complete -C '\(line)'"
        let outcome = try fish.run(["--no-config", "-c", script])
        let found = outcome.text.split(separator: "\n").map {
            String($0.prefix { $0 != "\t" })
        }
        #expect(found == words)
    }
}
