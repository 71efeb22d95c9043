// Durations.
extension Messages {
    /// `seconds` in words, to the second: `4 minutes 12 seconds`.
    ///
    /// Nothing is rounded, so that nobody tries again too early.
    static func duration(_ seconds: Int64) -> String {
        let parts: [(count: Int64, unit: String)] = [
            (seconds / 86_400, "day"), (seconds / 3_600 % 24, "hour"),
            (seconds / 60 % 60, "minute"), (seconds % 60, "second"),
        ]
        let said = parts.filter { $0.count > 0 }.map { part in
            "\(part.count) \(part.unit)\(part.count == 1 ? "" : "s")"
        }
        return said.isEmpty ? "less than a second" : said.joined(separator: " ")
    }
}
