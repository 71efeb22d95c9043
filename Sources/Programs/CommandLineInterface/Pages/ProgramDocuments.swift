/// The documents with the text of a program's help pages and manual.
///
/// In both, `{name}` stands for a value, such as a number that a constant defines. They are read
/// only to show a page or completions, not to run a command.
package struct ProgramDocuments: Sendable {
    /// The help pages in UTF-8; see ``HelpDocument``.
    let helpText: [UInt8]
    /// The manual in UTF-8 and mdoc(7), where `{commands}` stands for the options and commands, and
    /// the case of an ``ExitCode``, such as `{usage}`, for its number.
    let manualText: [UInt8]
    /// The values by name.
    let values: [String: String]

    /// Creates documents.
    package init(help: [UInt8], manual: [UInt8], values: [String: String]) {
        helpText = help
        manualText = manual
        self.values = values
    }

    /// The help of the program and its commands.
    var help: HelpDocument { HelpDocument(filled(helpText, values)) }

    /// The manual.
    func manual(_ commands: String) -> String {
        let statuses = ExitCode.allCases.map { ("\($0)", "\($0.rawValue)") }
        let values = values.merging(statuses + [("commands", commands)]) { $1 }
        // The line break at its end is printed with the page.
        let isEnded = manualText.last == UInt8(ascii: "\n")
        return filled(isEnded ? manualText.dropLast() : manualText[...], values)
    }

    /// `document` with its values; what is not the name of a value stays as it is.
    private func filled(_ document: some Sequence<UInt8>, _ values: [String: String]) -> String {
        let parts = document.split(separator: UInt8(ascii: "{"), omittingEmptySubsequences: false)
        var text = String(decoding: parts[0], as: UTF8.self)
        for part in parts.dropFirst() {
            let name = part.prefix { $0 != UInt8(ascii: "}") }
            if let value = values[String(decoding: name, as: UTF8.self)] {
                text += value + String(decoding: part.dropFirst(name.count + 1), as: UTF8.self)
            } else {
                text += "{" + String(decoding: part, as: UTF8.self)
            }
        }
        return text
    }
}
