/// The help pages of a program and its commands, as their document describes them.
///
/// A section begins with a line `# TITLE`: the program's name, `options`, or a command. Blank lines
/// separate its parts: a summary, which is the first paragraph, examples (indented by four spaces),
/// lines `--OPTION: text`, and more paragraphs. The text of an option in the section of a command
/// replaces the one in `options`. What precedes the first section is a comment.
struct HelpDocument: Sendable {
    /// The help of a command or of the program.
    struct Section: Sendable {
        /// What the command does, in one phrase.
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

    /// Reads a document.
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

    /// One line about `option`, as the command that is named `verb` uses it.
    func summary(of option: Option, for verb: String? = nil) -> String {
        verb.flatMap { self[$0].options[option.name] } ?? self["options"].options[option.name] ?? ""
    }
}

extension HelpDocument.Section {
    /// Adds a part, which has at least one line.
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
