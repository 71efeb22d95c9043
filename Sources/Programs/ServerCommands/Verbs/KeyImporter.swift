import Verification

/// Imports rows, one commit each, so that an interrupted import can be repeated.
struct KeyImporter {
    let verifier: Verifier
    let origin: Origin
    /// Whether to report the results without changing anything.
    let isRehearsal: Bool

    /// The number of rows that are imported at once, so that the store writes their commits to disk
    /// together.
    private static let batchSize = 64

    /// Imports the rows in batches.
    ///
    /// - Parameter finished: called with the result of each row, in their order; if a row causes an
    ///   error, also with the results of the rows in the same batch that were imported.
    func run(
        _ rows: [ImportRow], _ finished: (ImportRow, ImportRow.Result) throws -> Void
    ) async throws -> [ImportRow.Result] {
        guard !isRehearsal else {
            let results = try await rehearse(rows)
            for (row, result) in zip(rows, results) { try finished(row, result) }
            return results
        }
        var results: [ImportRow.Result] = []
        for start in stride(from: 0, to: rows.count, by: Self.batchSize) {
            let batch = rows[start...].prefix(Self.batchSize)
            var failure: (any Error)?
            for (row, outcome) in zip(batch, await importTogether(batch)) {
                switch outcome {
                case .success(let result):
                    results.append(result)
                    try finished(row, result)
                case .failure(let error): failure = failure ?? error
                }
            }
            if let failure { throw failure }
        }
        return results
    }

    /// Imports the rows concurrently; a row waits only for earlier rows that compete with it.
    private func importTogether(
        _ rows: ArraySlice<ImportRow>
    ) async -> [Result<ImportRow.Result, any Error>] {
        var tasks: [Task<ImportRow.Result, any Error>] = []
        for row in rows {
            let earlier = zip(rows, tasks).filter { $0.0.competes(with: row) }.map(\.1)
            tasks.append(
                Task {
                    for task in earlier { _ = try await task.value }
                    return try await result(of: row)
                })
        }
        var outcomes: [Result<ImportRow.Result, any Error>] = []
        for task in tasks { outcomes.append(await task.result) }
        return outcomes
    }

    private func result(of row: ImportRow) async throws -> ImportRow.Result {
        switch row.content {
        case .key(let given, let subject):
            ImportRow.Result(
                try await verifier.importOneTimePassword(given, for: subject, origin: origin))
        case .refused(let reason): .refused(reason)
        }
    }

    private func rehearse(_ rows: [ImportRow]) async throws -> [ImportRow.Result] {
        var given: [(given: OneTimePasswordImport, subject: Subject)] = []
        for row in rows {
            if case .key(let key, let subject) = row.content {
                given.append((given: key, subject: subject))
            }
        }
        let imports = given
        let outcomes = try await verifier.rehearse(imports)
        var rest = outcomes[...]
        return rows.compactMap { row in
            if case .refused(let reason) = row.content { return .refused(reason) }
            return rest.popFirst().map { ImportRow.Result($0) }
        }
    }
}
