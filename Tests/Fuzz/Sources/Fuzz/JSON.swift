import JSONReading
import WatchwordCoding
import WatchwordCryptography

/// Parses the bytes as JSON; accepted JSON must be written in a form that round-trips.
func fuzzJSON(_ bytes: [UInt8]) {
    // A small depth limit lets the fuzzer reach both sides of it.
    let limits = JSONLimits(bytes: 1 << 16, depth: 8)
    guard let value = json(bytes.span, limits) else { return }
    let written = value.rendered()
    // Escaping makes the text longer.
    let again = written.withBytes { json($0, JSONLimits(bytes: 1 << 20, depth: 8)) }
    guard let again else { preconditionFailure("JSON that we wrote was refused") }
    precondition(again.rendered() == written, "written JSON round-trips")
}

private func json(_ text: Span<UInt8>, _ limits: JSONLimits) -> JSONValue? {
    do { return try readJSON(text, limits: limits) } catch { return nil }
}
