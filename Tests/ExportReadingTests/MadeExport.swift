import Exports
import Testing

/// A made-up export and what it contains.
struct MadeExport: CustomTestStringConvertible, Sendable {
    let format: ExportFormat
    let name: String
    let text: String
    /// The entries' summaries; `refused REASON` for a refused row.
    let lines: [String]

    init(_ format: ExportFormat, _ name: String, _ text: String, _ lines: String...) {
        self.format = format
        self.name = name
        self.text = text
        self.lines = lines
    }

    var testDescription: String { "\(format.name): \(name)" }
}
