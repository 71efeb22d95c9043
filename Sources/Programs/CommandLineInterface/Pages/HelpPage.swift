/// The output of `--help`.
package enum HelpPage<Verb: ProgramVerb> {
    private static var width: Int { 80 }

    /// The page of one verb, which starts with examples.
    package static func of(_ verb: Verb) -> String {
        let entry = verb.entry
        let options = entry.options
        let help = Verb.documents.help
        let section = help[entry.name]
        var lines = ["Examples:"] + section.examples.map { "  " + $0 }
        let usage = [Verb.program, entry.name, entry.operands.usage].filter { !$0.isEmpty }
        lines += ["", "Usage: " + usage.joined(separator: " ") + " [OPTION…]", ""]
        lines += wrapped("\(entry.name): \(section.summary).", indent: 0)
        for paragraph in section.details { lines += [""] + wrapped(paragraph, indent: 0) }
        if !options.isEmpty {
            lines += ["", "Options:"]
            lines += columns(options.map { (left(of: $0), help.summary(of: $0, for: entry.name)) })
        }
        if let option = options.first(where: \.isInEnvironment) {
            let which = options.allSatisfy(\.isInEnvironment) ? "All" : "Some"
            let hint =
                "\(which) options can also be set by environment variables: \(option.variable) for "
                + "--\(option.name)."
            lines += [""] + wrapped(hint, indent: 0)
        }
        lines += ["", "Global options: see \(Verb.program) --help."]
        return lines.joined(separator: "\n")
    }

    /// The page of the program, with the global options; it also starts with examples.
    package static func ofProgram() -> String {
        let help = Verb.documents.help
        let about = help[Verb.program]
        var lines = ["Examples:"] + about.examples.map { "  " + $0 }
        lines += [
            "", "Usage: \(Verb.program) COMMAND [OPERAND…] [OPTION…]", "", about.summary,
        ]
        let groups = help.groups(of: Verb.allCases.map(\.name))
        let widest = Verb.allCases.map(\.name.count).max() ?? 0
        for group in groups {
            lines += ["", (group.title ?? "Commands") + ":"]
            lines += columns(group.names.map { ($0, help[$0].summary) }, widest: widest)
        }
        lines += ["", "Global options:"]
        lines += columns(Verb.global.map { (left(of: $0), help.summary(of: $0)) })
        lines += [
            "", "Help for a command: \(Verb.program) COMMAND --help",
            "The manual page: \(Verb.program) manual",
        ]
        return lines.joined(separator: "\n")
    }

    private static func left(of option: Option) -> String {
        let short = option.short.map { "-\($0), " } ?? ""
        let value = option.placeholder.map { option.hasOptionalValue ? "[=\($0)]" : " " + $0 }
        return short + "--" + option.name + (value ?? "")
    }

    /// Two columns; the first one is as wide as its contents, within limits.
    ///
    /// In a row whose first column is wider, the second column begins on a new line.
    ///
    /// - Parameter widest: the width of the contents; `nil` for that of these rows.
    private static func columns(_ rows: [(String, String)], widest: Int? = nil) -> [String] {
        let gap = min((widest ?? rows.map(\.0.count).max() ?? 0) + 4, 31)
        return rows.flatMap { left, right in
            let indented = "  " + left
            guard indented.count + 2 <= gap else {
                return [indented] + wrapped(right, indent: gap)
            }
            let padded = indented + String(repeating: " ", count: gap - indented.count)
            var lines = wrapped(right, indent: gap)
            lines[0] = padded + lines[0].dropFirst(gap)
            return lines
        }
    }

    /// Wraps `text` to 80 columns, with each line indented.
    package static func wrapped(_ text: String, indent: Int) -> [String] {
        let margin = String(repeating: " ", count: indent)
        var lines: [String] = []
        var line = margin
        for word in text.split(separator: " ") {
            if line.count > indent, line.count + 1 + word.count > width {
                lines.append(line)
                line = margin
            }
            line += (line.count > indent ? " " : "") + word
        }
        return lines + [line]
    }
}

/// The help pages of a program and its commands, as their document describes them.
///
/// A section begins with a line `# TITLE`: the program's name, `options`, or a command. Blank lines
/// separate its parts: a summary, which is the first paragraph, examples (indented by four spaces),
/// lines `--OPTION: text`, and more paragraphs. The text of an option in the section of a command
/// replaces the one in `options`. The text before the first section is a comment.
///
/// If there is a section `groups`, each of its paragraphs is `TITLE: COMMAND, COMMAND…`, and the
/// pages show the commands in these groups.
struct HelpDocument: Sendable {
    /// The help of a command or of the program.
    struct Section: Sendable {
        /// The effect of the command, in one phrase.
        fileprivate(set) var summary = ""
        /// Command lines to copy; the first one is the simplest.
        fileprivate(set) var examples: [String] = []
        /// The texts of options, by name.
        fileprivate(set) var options: [String: String] = [:]
        /// More details, one paragraph each.
        fileprivate(set) var details: [String] = []
    }

    /// The sections by title.
    private(set) var sections: [String: Section] = [:]

    init(_ text: String) {
        var title: String?
        var section = Section()
        var part: [Substring] = []
        let lines = text.utf8.split(
            separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        for line in lines.lazy.map(Substring.init) + ["", "# "] {
            if line.hasPrefix("# ") {
                if let title { sections[title] = section }
                title = String(line.dropFirst(2))
                section = Section()
                part = []
            } else if !line.isEmpty {
                part.append(line)
            } else if !part.isEmpty {
                section.add(part)
                part = []
            }
        }
    }

    /// The section with this title; it is empty if the document has none.
    subscript(_ title: String) -> Section { sections[title] ?? Section() }

    /// A group of commands, in the order of the pages; without groups in the document, one group
    /// without a title.
    struct Group: Equatable {
        let title: String?
        let names: [String]
    }

    /// The groups; a single one with all `names` if the document has none.
    func groups(of names: [String]) -> [Group] {
        guard let section = sections["groups"] else { return [Group(title: nil, names: names)] }
        return ([section.summary] + section.details).map { paragraph in
            let title = paragraph.prefix { $0 != ":" }
            let rest = paragraph.dropFirst(title.count + 1)
            let names = rest.split(separator: ",").map { name in
                name.split(separator: " ").joined(separator: " ")
            }
            return Group(title: String(title), names: names)
        }
    }

    /// One line about `option`, for the command with the name `verb`.
    func summary(of option: Option, for verb: String? = nil) -> String {
        verb.flatMap { self[$0].options[option.name] } ?? self["options"].options[option.name] ?? ""
    }
}

extension HelpDocument.Section {
    /// Adds a paragraph, which has at least one line.
    fileprivate mutating func add(_ part: [Substring]) {
        if part[0].hasPrefix("    ") {
            examples += part.map { String($0.dropFirst(4)) }
        } else if Self.option(part[0]) != nil {
            for (name, text) in part.compactMap(Self.option) { options[name] = text }
        } else if summary.isEmpty {
            summary = part.joined(separator: " ")
        } else {
            details.append(part.joined(separator: " "))
        }
    }

    /// The name and the text in a line `--name: text`; `nil` for other lines.
    private static func option(_ line: Substring) -> (String, String)? {
        guard line.hasPrefix("--") else { return nil }
        let name = line.dropFirst(2).prefix { $0 != ":" && $0 != " " }
        let rest = line[name.endIndex...]
        return rest.hasPrefix(": ") ? (String(name), String(rest.dropFirst(2))) : nil
    }
}
