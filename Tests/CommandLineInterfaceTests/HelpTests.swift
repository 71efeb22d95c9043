import Foundation
import TestSupport
import Testing

@testable import CommandLineInterface
@testable import Commands
@testable import EnrolCommands
@testable import ServerCommands

/// The help pages and manual pages of the programs, which their tables of commands and their
/// documents generate.
struct HelpTests {
    @Test(
        "every help page of watchword starts with valid examples, and has one line per option",
        arguments: Commands.Verb.allCases)
    func pages(_ verb: Commands.Verb) throws { try check(verb) }

    @Test(
        "every help page of watchword-server starts with valid examples, and has one line per option",
        arguments: ServerVerb.allCases)
    func serverPages(_ verb: ServerVerb) throws { try check(verb) }

    @Test(
        "every help page of watchword-enrol starts with valid examples, and has one line per option",
        arguments: EnrolVerb.allCases)
    func enrolPages(_ verb: EnrolVerb) throws { try check(verb) }

    private func check<Verb: ProgramVerb>(_ verb: Verb) throws {
        let lines = HelpPage<Verb>.of(verb).split(separator: "\n")
        #expect(lines[0] == "Examples:")
        let help = Verb.documents.help
        for option in verb.entry.options {
            let summary = help.summary(of: option, for: verb.name)
            #expect(lines.contains { isLine($0, of: option, summary) }, "--\(option.name)")
        }
        let examples = help[verb.name].examples
        #expect(examples.allSatisfy { $0.contains("\(Verb.program) ") })
        for example in examples {
            // Omit pipes, redirections and the umask, which the shell handles.
            let command = example.replacing("umask 077; ", with: "")
                .prefix { !"|<>".contains($0) }
            let request = try ArgumentParser<Verb>.parse(Array(words(of: command).dropFirst()))
            guard case .run(let understood, _) = request else {
                Issue.record("invalid example: \(example)")
                continue
            }
            // A page may show a different command, such as the command that prints the number of a
            // slot.
            #expect(understood.name == verb.name || example != examples.last, "\(example)")
        }
    }

    /// The words of a command line; text in single quotes is one word.
    private func words(of command: Substring) -> [String] {
        command.split(separator: "'", omittingEmptySubsequences: false).enumerated().flatMap {
            index, part in
            index.isMultiple(of: 2) ? part.split(separator: " ").map(String.init) : [String(part)]
        }
    }

    private func isLine(_ line: Substring, of option: Option, _ summary: String) -> Bool {
        !summary.isEmpty && line.hasPrefix("  ") && line.hasSuffix(summary)
            && [" ", "[="].contains { line.contains("--\(option.name)\($0)") }
    }

    @Test("no line of a help page is wider than 80 columns")
    func width() {
        checkWidth(Commands.Verb.self)
        checkWidth(ServerVerb.self)
        checkWidth(EnrolVerb.self)
    }

    private func checkWidth<Verb: ProgramVerb>(_: Verb.Type) {
        let pages = [HelpPage<Verb>.ofProgram()] + Verb.allCases.map(HelpPage<Verb>.of)
        for line in pages.flatMap({ $0.split(separator: "\n") }) {
            #expect(line.count <= 80, "\(line)")
        }
    }

    @Test("only the program's help page lists the global options, one per line")
    func globalOptions() {
        checkGlobalOptions(Commands.Verb.self)
        checkGlobalOptions(ServerVerb.self)
        checkGlobalOptions(EnrolVerb.self)
    }

    private func checkGlobalOptions<Verb: ProgramVerb>(_: Verb.Type) {
        let lines = HelpPage<Verb>.ofProgram().split(separator: "\n")
        for option in Verb.global {
            let summary = Verb.documents.help.summary(of: option)
            #expect(lines.contains { isLine($0, of: option, summary) }, "--\(option.name)")
            for verb in Verb.allCases {
                #expect(!HelpPage<Verb>.of(verb).contains("  --\(option.name) "), "\(verb.name)")
            }
        }
    }

    @Test("--qr is the only option whose kind of value depends on the command")
    func optionsAgree() {
        #expect(ambiguousOptions(of: Commands.Verb.self) == ["qr"])
        #expect(ambiguousOptions(of: ServerVerb.self) == [])
        #expect(ambiguousOptions(of: EnrolVerb.self) == [])
        let letters = Set(Commands.Verb.table.allOptions.filter { $0.short != nil }.map(\.name))
        #expect(letters == ["quiet", "help", "version", "yes", "output", "copy"])
    }

    private func ambiguousOptions<Verb: ProgramVerb>(of _: Verb.Type) -> Set<String> {
        var seen: [String: Set<Option.Value>] = [:]
        for option in Verb.table.allOptions { seen[option.name, default: []].insert(option.value) }
        return Set(seen.filter { $0.value.count > 1 }.keys)
    }

    @Test("a document has a section for each command and a text for each option, and no others")
    func sections() {
        checkSections(Commands.Verb.self)
        checkSections(ServerVerb.self)
        checkSections(EnrolVerb.self)
        let help = Commands.Verb.documents.help
        for other in [ServerVerb.documents.help, EnrolVerb.documents.help] {
            for option in [Option.help, .version, .json] {
                #expect(help.summary(of: option) == other.summary(of: option))
            }
        }
    }

    private func checkSections<Verb: ProgramVerb>(_: Verb.Type) {
        let help = Verb.documents.help
        let titles = Verb.allCases.map(\.name) + [Verb.program, "options"]
        #expect(help.sections.keys.filter { $0 != "groups" }.sorted() == titles.sorted())
        let common = help["options"].options
        #expect(Set(common.keys) == Set(Verb.table.allOptions.map(\.name)))
        for verb in Verb.allCases {
            let section = help[verb.name]
            #expect(!section.summary.isEmpty && !section.examples.isEmpty, "\(verb.name)")
            let names = Set(verb.entry.options.map(\.name))
            for (name, text) in section.options {
                #expect(names.contains(name) && text != common[name], "\(verb.name) --\(name)")
            }
        }
    }

    @Test("a program's page and manual show every command once, in the groups of the document")
    func groups() {
        checkGroups(Commands.Verb.self, count: 7, first: "Codes", last: "Without a vault")
        checkGroups(ServerVerb.self, count: 6, first: "The server", last: "Interface and shell")
        checkGroups(EnrolVerb.self, count: 1, first: nil, last: nil)
    }

    private func checkGroups<Verb: ProgramVerb>(
        _: Verb.Type, count: Int, first: String?, last: String?
    ) {
        let help = Verb.documents.help
        let groups = help.groups(of: Verb.allCases.map(\.name))
        #expect(groups.count == count)
        #expect(groups.first?.title == first)
        #expect(groups.last?.title == last)
        #expect(groups.flatMap(\.names).sorted() == Verb.allCases.map(\.name).sorted())
        let page = HelpPage<Verb>.ofProgram().split(separator: "\n").map(String.init)
        let manual = ManualPage<Verb>.text.split(separator: "\n").map(String.init)
        for group in groups {
            let title = group.title.map { ": " + $0.uppercased() } ?? ""
            // A long summary continues on the next line.
            let rows = page.drop { $0 != (group.title ?? "Commands") + ":" }.dropFirst()
                .filter { !$0.hasPrefix("   ") }
            let sections = manual.drop { $0 != ".Sh COMMANDS\(title)" }.dropFirst()
                .prefix { !$0.hasPrefix(".Sh ") }.filter { $0.hasPrefix(".Ss ") }
            #expect(sections.count == group.names.count)
            for (name, (row, section)) in zip(group.names, zip(rows, sections)) {
                #expect(row.hasPrefix("  \(name)  "))
                #expect(row.contains("  \(help[name].summary.prefix(16))"))
                #expect(section.hasPrefix(".Ss \(name)"))
            }
        }
    }

    @Test(
        "a document without groups has one group, and the names of a group can take several lines")
    func groupForms() {
        let plain = HelpDocument("# a\nprint a\n")
        #expect(plain.groups(of: ["a", "b"]) == [.init(title: nil, names: ["a", "b"])])
        let grouped = HelpDocument("# groups\nOne: a,\nb c\n\nTwo: d\n")
        #expect(
            grouped.groups(of: [])
                == [.init(title: "One", names: ["a", "b c"]), .init(title: "Two", names: ["d"])])
    }

    @Test("every word in braces in a document has a value, and every value is used")
    func values() {
        checkValues(Commands.Verb.self)
        checkValues(ServerVerb.self)
        checkValues(EnrolVerb.self)
    }

    private func checkValues<Verb: ProgramVerb>(_: Verb.Type) {
        let documents = Verb.documents
        let text = String(decoding: documents.helpText + documents.manualText, as: UTF8.self)
        let used = Set(text.matches(of: /{([A-Za-z]+)}/).map { String($0.1) })
        // The manual page has these options in addition; a different test finds the exit statuses
        // in it.
        let general = ExitCode.allCases.map { "\($0)" } + ["commands"]
        #expect(used.subtracting(general) == Set(documents.values.keys))
        #expect(ManualPage<Verb>.text.firstMatch(of: /{[A-Za-z]+}/) == nil)
    }

    @Test("the manual page contains every command, option and exit status")
    func completeness() {
        checkManual(Commands.Verb.self, statuses: [0, 1, 2, 3, 4, 5, 6])
        checkManual(ServerVerb.self, statuses: [0, 1, 2, 3, 5, 6])
        checkManual(EnrolVerb.self, statuses: [0, 1, 2, 4, 5, 6])
    }

    private func checkManual<Verb: ProgramVerb>(_: Verb.Type, statuses: [Int]) {
        let page = ManualPage<Verb>.text
        for verb in Verb.allCases {
            for word in verb.name.split(separator: " ") { #expect(page.contains(word)) }
            for option in verb.entry.options { #expect(page.contains(option.name)) }
        }
        let listed = page.split(separator: "\n").filter { $0.hasPrefix(".It ") }
            .compactMap { Int($0.dropFirst(4)) }
        #expect(listed == statuses)
    }

    @Test(
        "mandoc finds no problems in the manual page",
        .enabled(if: ForeignProgram("mandoc") != nil, "mandoc is not installed"),
        arguments: ["watchword", "watchword-enrol", "watchword-server"])
    func manual(_ program: String) throws {
        let mandoc = try #require(ForeignProgram("mandoc"))
        let page = try ForeignProgram(path: BuiltProgram.path(program)).run(["manual"])
        #expect(page.status == 0)
        let outcome = try mandoc.run(["-Tlint", "-Wwarning"], input: page.output)
        #expect(outcome.text == "")
        #expect(outcome.status == 0)
    }
}
