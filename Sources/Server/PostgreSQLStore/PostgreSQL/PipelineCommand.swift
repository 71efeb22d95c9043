internal import SQLStore

/// A command that is sent in a pipeline.
enum PipelineCommand {
    /// Prepares a statement.
    case prepare(StoreStatement)
    /// Runs a prepared statement.
    case run(StoreStatement, StatementArguments = StatementArguments())
    /// Runs a statement without arguments, once.
    case text(String)
}

/// The result of a command in a pipeline.
enum PipelineOutcome {
    /// The command succeeded.
    case done(PostgreSQLResult)
    /// The command failed.
    case failed(PostgreSQLFailure)
    /// An earlier command failed.
    case skipped
}

extension [PipelineOutcome] {
    /// The results, if every command succeeded.
    func results() throws(PostgreSQLFailure) -> [PostgreSQLResult] {
        var results: [PostgreSQLResult] = []
        for outcome in self {
            switch outcome {
            case .done(let result): results.append(result)
            case .failed(let failure): throw failure
            case .skipped: throw .broken
            }
        }
        return results
    }
}

extension StatementArguments {
    /// Lends the arguments in the form that libpq takes; all are binary.
    @unsafe func withPointers<Result>(
        _ body: (
            Int32, UnsafePointer<UnsafePointer<CChar>?>?, UnsafePointer<Int32>?,
            UnsafePointer<Int32>?
        ) -> Result
    ) -> Result {
        let lengths = places.map { Int32(truncatingIfNeeded: max($0.count, 0)) }
        let formats = [Int32](repeating: 1, count: places.count)
        return unsafe bytes.withUnsafeBytes { bytes in
            // Even an empty value needs an address: without one it would be NULL.
            var nothing: CChar = 0
            return unsafe withUnsafePointer(to: &nothing) { nothing in
                let values = unsafe places.map { place -> UnsafePointer<CChar>? in
                    guard place.count >= 0 else { return nil }
                    guard let start = bytes.baseAddress else { return unsafe nothing }
                    return unsafe (start + place.start).assumingMemoryBound(to: CChar.self)
                }
                return unsafe body(Int32(places.count), values, lengths, formats)
            }
        }
    }
}
