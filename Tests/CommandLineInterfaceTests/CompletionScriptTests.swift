import Foundation
import TestSupport
import Testing

@testable import CommandLineInterface

/// The completion scripts of both programs in real shells.
struct CompletionScriptTests {
    private static let programs = ["watchword", "watchword-server"]

    /// A folder with files to complete, the completion scripts, and programs that answer these
    /// scripts and otherwise only print their arguments.
    private func makeFolder() throws -> TemporaryFolder {
        let folder = try TemporaryFolder()
        for file in ["picture.png", "copy.db"] { try folder.write([], to: file) }
        try FileManager.default.createDirectory(
            atPath: folder.file("bin"), withIntermediateDirectories: false)
        for name in Self.programs {
            let built = ForeignProgram(path: BuiltProgram.path(name))
            let wrapper = """
                #!/bin/sh
                [ "$1" != __complete ] || exec '\(built.path)' "$@"
                # The program that prints names and tags, with the vault that it was given as another.
                case $* in
                "list --agent-only --names"*) set -- GitHub:ann GitHub:bob 'My bank' ${5:+"in $5"} ;;
                "list --agent-only --tags"*) set -- Work 'to do' ${5:+"in $5"} ;;
                *) printf '<%s>\\n' "$@"; exit ;;
                esac
                printf '%s\\n' "$@"

                """
            try folder.addProgram(wrapper, as: "bin/\(name)")
            for shell in CompletionScript.Shell.allCases {
                let script = try built.run(["completions", shell.rawValue])
                #expect(script.status == 0)
                try folder.write(script.output, to: "\(name).\(shell)")
            }
        }
        return folder
    }

    private func path(_ folder: TemporaryFolder) -> String {
        folder.file("bin") + ":/usr/bin:/bin"
    }

    @Test(
        "bash accepts the completion scripts",
        .enabled(if: ForeignProgram("bash") != nil, "bash is not installed"), arguments: programs)
    func bashSyntax(_ program: String) throws { try checkSyntax("bash", program) }

    @Test(
        "zsh accepts the completion scripts",
        .enabled(if: ForeignProgram("zsh") != nil, "zsh is not installed"), arguments: programs)
    func zshSyntax(_ program: String) throws { try checkSyntax("zsh", program) }

    @Test(
        "fish accepts the completion scripts",
        .enabled(if: ForeignProgram("fish") != nil, "fish is not installed"), arguments: programs)
    func fishSyntax(_ program: String) throws { try checkSyntax("fish", program) }

    private func checkSyntax(_ name: String, _ program: String) throws {
        let shell = try #require(ForeignProgram(name))
        let folder = try makeFolder()
        let outcome = try shell.run(["-n", folder.file("\(program).\(name)")])
        #expect(outcome.status == 0)
        #expect(outcome.errors == [])
    }

    @Test(
        "bash completes commands, options, choices and files, and never runs a command",
        .enabled(if: ForeignProgram("bash") != nil, "bash is not installed"),
        arguments: [
            ("watchword co", ["code", "completions"]),
            ("watchword slot ", ["list", "add", "remove"]),
            ("watchword code --ne", ["--next"]), ("watchword --vault x code --a", ["--at"]),
            ("watchword import --on-duplicate ", ["skip", "replace", "keep"]),
            ("watchword add --qr pic", ["picture.png"]),
            ("watchword show --qr GitH", ["GitHub:ann", "GitHub:bob"]),
            ("watchword add --qr = pic", ["picture.png"]),
            ("watchword qr read pic", ["picture.png"]),
            ("watchword totp --algorithm SHA2", ["SHA256"]),
            ("watchword totp --algorithm =", ["SHA1", "SHA256", "SHA512"]),
            ("watchword add --on-failure ", ["lock-out", "wipe"]),
            ("watchword code ", ["GitHub:ann", "GitHub:bob", "My\\ bank"]),
            ("watchword code Gi", ["GitHub:ann", "GitHub:bob"]), ("watchword code ann", []),
            ("watchword code gith", ["GitHub:ann", "GitHub:bob"]),
            ("watchword code GITHUB : B", ["bob"]),
            ("watchword list --tag ", ["Work", "to\\ do"]), ("watchword list --tag wor", ["Work"]),
            ("watchword edit x --untag = TO", ["to\\ do"]),
            ("watchword list --vault x --tag in", ["in\\ x"]),
            ("watchword code GitHub : a", ["ann"]), ("watchword code GitHub :", ["ann", "bob"]),
            ("watchword rename My", ["My\\ bank"]), ("watchword code --vault x in", ["in\\ x"]),
            ("watchword completions ", ["bash", "zsh", "fish"]),
            ("watchword-server ke", ["keys"]), ("watchword-server keys r", ["rotate", "retire"]),
            ("watchword-server serve --prof", ["--profile"]),
            ("watchword-server serve --profile ", ["strict", "rfc", "wide"]),
            ("watchword-server restore cop", ["copy.db"]),
            ("watchword-server restore --ended cop", ["copy.db"]),
            ("watchword-server audit ", ["verify", "ended", "follow"]),
            ("watchword-server completions ", ["bash", "zsh", "fish"]),
        ])
    func bash(_ line: String, _ words: [String]) throws {
        let bash = try #require(ForeignProgram("bash"))
        let folder = try makeFolder()
        let typed = line.split(separator: " ", omittingEmptySubsequences: false)
        let program = typed[0]
        let script = """
            cd '\(folder.path)'
            source \(program).bash
            COMP_WORDS=(\(typed.map { "'\($0)'" }.joined(separator: " ")))
            COMP_CWORD=\(typed.count - 1)
            _\(program.map { $0 == "-" ? "_" : String($0) }.joined())
            printf '%s\\n' "${COMPREPLY[@]}"
            """
        let outcome = try bash.run(["-c", script], environment: ["PATH": path(folder)])
        #expect(outcome.text.split(separator: "\n").map(String.init) == words)
        #expect(outcome.errors == [])
    }

    @Test(
        "fish completes commands, options, choices, files and entry names",
        .enabled(if: ForeignProgram("fish") != nil, "fish is not installed"),
        arguments: [
            ("watchword co", ["code", "completions"]), ("watchword code --ne", ["--next"]),
            ("watchword slot ", ["add", "list", "remove"]),
            ("watchword show --qr Git", ["GitHub:ann", "GitHub:bob"]),
            ("watchword import --on-duplicate r", ["replace"]),
            ("watchword edit --on-failure ", ["lock-out", "wipe"]),
            ("watchword code G", ["GitHub:ann", "GitHub:bob"]),
            ("watchword code gith", ["GitHub:ann", "GitHub:bob"]),
            ("watchword list --tag wor", ["Work"]),
            ("watchword export --only=wor", ["--only=Work"]),
            ("watchword qr read pic", ["picture.png"]),
            ("watchword-server ke", ["keys"]), ("watchword-server serve --prof", ["--profile"]),
            ("watchword-server client ", ["add", "list", "renew", "revoke"]),
            ("watchword-server restore cop", ["copy.db"]),
        ])
    func fish(_ line: String, _ words: [String]) throws {
        let fish = try #require(ForeignProgram("fish"))
        let folder = try makeFolder()
        let program = line.prefix { $0 != " " }
        let script = "cd '\(folder.path)'; source \(program).fish; complete -C '\(line)'"
        let outcome = try fish.run(
            ["--no-config", "-c", script],
            environment: ["PATH": path(folder), "HOME": folder.path])
        let found = outcome.text.split(separator: "\n").map { String($0.prefix { $0 != "\t" }) }
        #expect(found == words)
        #expect(outcome.errors == [])
    }

    @Test(
        "the tab key completes a line in a terminal with bash",
        .enabled(if: ForeignProgram("bash") != nil, "bash is not installed"))
    func bashTerminal() throws { try checkTerminal("bash --norc -i", .bash) }

    @Test(
        "the tab key completes a line in a terminal with zsh",
        .enabled(if: ForeignProgram("zsh") != nil, "zsh is not installed"))
    func zshTerminal() throws {
        try checkTerminal("zsh -f -i", .zsh, first: "autoload -U compinit; compinit -u -D; ")
    }

    @Test(
        "the tab key completes a line in a terminal with fish",
        .enabled(if: ForeignProgram("fish") != nil, "fish is not installed"))
    func fishTerminal() throws { try checkTerminal("fish --no-config -i", .fish) }

    private func checkTerminal(
        _ command: String, _ shell: CompletionScript.Shell, first: String = ""
    ) throws {
        let folder = try makeFolder()
        let terminal = try PseudoTerminal(
            command, in: folder, environment: ["PATH": path(folder)])
        try terminal.type("\(first)source ./watchword.\(shell); echo rea''dy\r")
        try terminal.waitFor("ready")
        for (typed, result) in [
            ("watchword slo\trem\t", ["slot", "remove"]),
            ("watchword totp --algo\tSHA2\t", ["totp", "--algorithm", "SHA256"]),
            ("watchword totp --algorithm=SHA2\t", ["totp", "--algorithm=SHA256"]),
            ("watchword qr read pic\t", ["qr", "read", "picture.png"]),
            ("watchword add --qr=pic\t", ["add", "--qr=picture.png"]),
            // Entry names are not completed with file names.
            ("watchword code pic\t", ["code", "pic"]),
            ("watchword code GitHub:a\t", ["code", "GitHub:ann"]),
            ("watchword code My\t", ["code", "My bank"]),
            ("watchword code my\t", ["code", "My bank"]),
            ("watchword edit x --tag wo\t", ["edit", "x", "--tag", "Work"]),
            ("watchword list --tag=wo\t", ["list", "--tag=Work"]),
        ] {
            terminal.clear()
            try terminal.type(typed + "\r")
            try terminal.waitFor(result.map { "<\($0)>\r\n" }.joined())
        }
        try terminal.type("exit\r")
        #expect(try terminal.end() == 0)
    }
}
