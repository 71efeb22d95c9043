internal import Exports
internal import JSONReading
internal import WatchwordCoding
internal import WatchwordCryptography

/// Reads the JSON of an export.
func readExportJSON(_ text: SecretBytes, _ format: ExportFormat?) throws(ExportError) -> JSONValue {
    let limits = ExportLimits.current
    do {
        return try readJSON(
            text, limits: JSONLimits(bytes: limits.bytes, depth: 64, values: limits.values),
            content: .any)
    } catch {
        switch error {
        case .tooLong(let limit):
            throw .overLimit(
                format, .documentSize, found: UInt64(text.count), allowed: UInt64(limit))
        case .tooDeep(let limit):
            throw .overLimit(format, .depth, found: UInt64(limit) + 1, allowed: UInt64(limit))
        case .tooManyValues(let limit):
            throw .overLimit(format, .rows, found: UInt64(limit) + 1, allowed: UInt64(limit))
        case .noMemory: throw .outOfMemory
        default: throw format.map { .damaged($0) } ?? .notJSON
        }
    }
}

/// Reads the JSON of one row; a text that cannot be read refuses the row, not the file.
func readRowJSON(
    _ text: SecretBytes, _ format: ExportFormat
) throws(ExportRowRefusal) -> JSONValue {
    try refusing(as: .malformed) { try readExportJSON(text, format) }
}
