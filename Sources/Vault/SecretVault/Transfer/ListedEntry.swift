package import WatchwordSystem

/// An entry in a list that another process sends, with the counter for its next code.
package struct ListedEntry: Hashable, Sendable {
    package let summary: EntrySummary
    /// `nil` for an entry without a counter, and for one that was wiped or is damaged.
    package let counter: UInt64?

    package init(_ summary: EntrySummary, counter: UInt64?) {
        self.summary = summary
        self.counter = counter
    }
}

extension ListedEntry: Transferable {
    package func write(to output: FrameWriter) { output.append(summary, counter) }

    package init(reading fields: inout FieldReader, in bytes: Span<UInt8>) throws(Unreadable) {
        self = try fields.make(Self.init, from: bytes)
    }
}

extension UnlockedVault {
    /// The entries with their counters; a damaged entry has none, and `check` reports it.
    ///
    /// - Parameter isIncluded: whether an entry is listed.
    package func listedEntries(
        where isIncluded: (EntrySummary) -> Bool = { _ in true }
    ) -> [ListedEntry] {
        var listed: [ListedEntry] = []
        for entry in entries where isIncluded(entry) {
            listed.append(ListedEntry(entry, counter: ifPossible(try counter(of: entry.id)) ?? nil))
        }
        return listed
    }
}
