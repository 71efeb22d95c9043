import Foundation
import TestSupport
import Testing

/// Completion in real shells of the entry names of a vault that the agent holds.
@Suite(.serialized)
struct AgentCompletionTests {
    private struct Shell: CustomTestStringConvertible {
        let name: String
        let arguments: String
        let start: String

        var testDescription: String { name }
    }

    private static let shells = [
        Shell(name: "bash", arguments: "--norc -i", start: ""),
        Shell(name: "zsh", arguments: "-f -i", start: "autoload -U compinit; compinit -u -D; "),
        Shell(name: "fish", arguments: "--no-config -i", start: ""),
    ].filter { ForeignProgram($0.name) != nil }

    @Test(
        "the tab key completes names while the agent holds the vault, and never shows a prompt",
        arguments: shells)
    private func names(_ shell: Shell) throws {
        let agent = try AgentFixture([
            "GitHub:ann --secret-file key.txt",
            "'My bank:ann' --type hotp --secret-file key.txt",
        ])
        try agent.run("completions \(shell.name) >complete")
        // Records the completion requests of the shell after they are answered.
        let recorder = """
            #!/bin/sh
            '\(BuiltProgram.path("watchword"))' "$@"
            status=$?
            echo "$@" >>asked
            exit $status

            """
        try agent.shell("mkdir fake")
        try agent.folder.addProgram(recorder, as: "fake/watchword")
        let terminal = try agent.terminal(
            shell.arguments, program: "PATH=$PWD/fake:$PATH \(shell.name)")
        try terminal.type("\(shell.start)source ./complete; echo rea''dy\r")
        try terminal.waitFor("ready")
        try expectNothing(on: terminal, of: agent, "one")
        try agent.run(AgentFixture.unlock)
        terminal.clear()
        // The shell adds the rest of the name and a space.
        try terminal.type("watchword code Git\t--at 59\r")
        try terminal.waitFor("287082")
        terminal.clear()
        try terminal.type("watchword code My\t\r")
        try terminal.waitFor("755224")
        try agent.run("lock")
        try expectNothing(on: terminal, of: agent, "two")
        try terminal.type("exit\r")
        #expect(try terminal.end() == 0)
    }

    /// Expects that Tab requests the names, but shows neither a name nor a prompt while the vault
    /// is locked.
    private func expectNothing(
        on terminal: PseudoTerminal, of agent: AgentFixture, _ mark: String
    ) throws {
        terminal.clear()
        try agent.shell("rm -f asked")
        // Ctrl-U discards the line.
        try terminal.type("watchword code Git\t\u{15}echo \(mark)''\(mark)\r")
        try terminal.waitFor(mark + mark)
        #expect(try agent.shell("cat asked").text.contains("list --agent-only --names"))
        #expect(!terminal.screen.contains("Git" + "Hub"))
        #expect(!terminal.screen.contains("Passphrase"))
    }
}
