import Cryptography
import JSONReading
import JSONText

/// Any bytes as JSON: refused, or written in a form that reads the same and is written the same.
func fuzzJSON(_ bytes: [UInt8]) {
    // A small limit on the depth lets both sides of it be found.
    let limits = JSONLimits(bytes: 1 << 16, depth: 8)
    guard let value = json(bytes.span, limits) else { return }
    let written = value.rendered()
    // What is escaped is longer than it was.
    let again = written.withBytes { json($0, JSONLimits(bytes: 1 << 20, depth: 8)) }
    guard let again else { preconditionFailure("JSON of our own is refused") }
    precondition(again.rendered() == written, "JSON that changes when it is read again")
}

private func json(_ text: Span<UInt8>, _ limits: JSONLimits) -> JSONValue? {
    do { return try readJSON(text, limits: limits) } catch { return nil }
}
