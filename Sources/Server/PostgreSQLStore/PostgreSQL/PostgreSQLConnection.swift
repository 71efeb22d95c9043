internal import CPostgreSQL
internal import Glibc
internal import SQLStore
internal import Verification
internal import WatchwordSystem

/// A connection to the server, closed on deinitialisation.
///
/// Use it from one thread at a time.
@safe final class PostgreSQLConnection {
    private let handle: OpaquePointer
    private let warnings = Warnings()
    /// Whether the server itself, not a function, issued a warning in the last pipeline.
    ///
    /// The command that caused the warning is unknown: libpq delivers a warning before the results
    /// of earlier commands. A warning at the end of a transaction has no context; warnings from
    /// functions, such as triggers, have one.
    private(set) var hasWarning = false
    let dialect: PostgreSQLDialect
    /// The statements that the server has prepared; they outlive a transaction that fails.
    private var prepared: Set<StoreStatement> = []

    /// Connects and authenticates with the connection string.
    ///
    /// - Parameter dialect: provides the text of the statements that the connection prepares.
    /// - Throws: ``SQLStoreError/unreachable(_:)``.
    init(
        _ address: PostgreSQLAddress, _ dialect: PostgreSQLDialect = PostgreSQLDialect()
    ) throws(SQLStoreError) {
        self.dialect = dialect
        let opened = unsafe address.settings.withCStrings { keywords, values in
            unsafe PQconnectdbParams(keywords, values, 1)
        }
        guard let ready = unsafe opened else {
            throw .unreachable("out of memory")
        }
        guard unsafe PQstatus(ready) == CONNECTION_OK else {
            let message = unsafe String(cString: unsafe PQerrorMessage(ready))
            unsafe PQfinish(ready)
            throw .unreachable(message)
        }
        unsafe handle = ready
        unsafe PQsetNoticeReceiver(
            handle, Warnings.receive, Unmanaged.passUnretained(warnings).toOpaque())
    }

    deinit { unsafe PQfinish(handle) }

    /// Whether the connection is open, as far as is known.
    ///
    /// A server that shuts down first sends the reason, so this reads everything that has arrived.
    var stands: Bool {
        while unsafe PQstatus(handle) == CONNECTION_OK {
            var request = pollfd(fd: unsafe PQsocket(handle), events: Int16(POLLIN), revents: 0)
            guard unsafe poll(&request, 1, 0) > 0 else { return true }
            guard unsafe PQconsumeInput(handle) == 1 else { return false }
        }
        return false
    }

    /// A setting that the server reports on its own.
    func reported(_ name: String) -> String {
        guard let text = unsafe PQparameterStatus(handle, name) else { return "" }
        return unsafe String(cString: text)
    }

    /// Runs a script of several statements and ignores the rows they return.
    func execute(_ script: String) throws(StoreFailure) {
        guard let result = unsafe PQexec(handle, script) else { throw .broken }
        try check(unsafe PostgreSQLResult(owning: result))
    }

    /// The number in the first row and column of a query's result.
    func number(_ query: String) throws(StoreFailure) -> Int64 {
        let number = try first(query) { row throws(StoreFailure) in
            try row.requiredInteger()
        }
        guard let number else { throw .invalidRow }
        return number
    }

    /// Returns the first row that a query selects; `nil` if there is none.
    ///
    /// The connection must not be in pipeline mode.
    func first<Row>(
        _ query: String, _ read: (inout RowReader) throws(StoreFailure) -> Row
    ) throws(StoreFailure) -> Row? {
        guard let result = unsafe PQexecParams(handle, query, 0, nil, nil, nil, nil, 1) else {
            throw .broken
        }
        let answer = unsafe PostgreSQLResult(owning: result)
        try check(answer)
        return try answer.first(read)
    }

    /// Sends all later commands in pipelines.
    func enterPipelineMode() throws(StoreFailure) {
        guard unsafe PQsetnonblocking(handle, 1) == 0, unsafe PQenterPipelineMode(handle) == 1
        else { throw .notSent }
    }

    /// Sends all commands together and returns their outcomes.
    ///
    /// A statement that is not prepared yet is prepared in the same pipeline, before the command
    /// that runs it. The commands form one transaction, unless they contain transaction commands.
    /// If a command fails, the server skips the rest of the pipeline; a statement that cannot be
    /// prepared, and a transaction that fails at its end, each add one more outcome.
    ///
    /// - Parameters:
    ///   - statements: what to prepare after the commands, for later pipelines.
    ///   - timeout: how long the whole pipeline may take; after that, the connection is lost.
    /// - Throws: if the connection is lost; it is then unknown whether the commands took effect.
    func run(
        _ commands: [PipelineCommand], preparing statements: [StoreStatement] = [],
        timeout: Duration
    ) throws(StoreFailure) -> [PipelineOutcome] {
        let deadline = ContinuousClock.Instant.now + timeout
        // For each result, the statement that it prepares; `nil` for the result of a command.
        var preparing: [StoreStatement?] = []
        for command in commands {
            if case .run(let statement, _) = command, !prepared.contains(statement),
                !preparing.contains(statement)
            {
                try prepare(statement)
                preparing.append(statement)
            }
            try send(command)
            preparing.append(nil)
        }
        for statement in statements {
            try prepare(statement)
            preparing.append(statement)
        }
        guard unsafe PQpipelineSync(handle) == 1 else { throw .notSent }
        var results = preparing.makeIterator()
        var outcomes: [PipelineOutcome] = []
        outcomes.reserveCapacity(commands.count)
        while true {
            try waitForResult(deadline)
            // A null result separates one command's results from the next one's.
            guard let next = unsafe PQgetResult(handle) else {
                guard unsafe PQstatus(handle) == CONNECTION_OK else { throw .broken }
                continue
            }
            let result = unsafe PostgreSQLResult(owning: next)
            let statement = results.next() ?? nil
            switch result.status {
            case PGRES_PIPELINE_SYNC:
                guard outcomes.count >= commands.count else { throw .broken }
                hasWarning = warnings.take()
                return outcomes
            case PGRES_COMMAND_OK, PGRES_TUPLES_OK:
                if let statement {
                    prepared.insert(statement)
                } else {
                    outcomes.append(.done(result))
                }
            case PGRES_PIPELINE_ABORTED:
                if statement == nil { outcomes.append(.skipped) }
            default:
                let refused = RefusedCommand(result)
                guard !refused.endsConnection else { throw refused.failure }
                outcomes.append(.failed(refused))
            }
        }
    }

    private func check(_ result: PostgreSQLResult) throws(StoreFailure) {
        switch result.status {
        case PGRES_COMMAND_OK, PGRES_TUPLES_OK: break
        default: throw RefusedCommand(result).failure
        }
    }

    private func prepare(_ statement: StoreStatement) throws(StoreFailure) {
        let code = unsafe PQsendPrepare(
            handle, statement.rawValue, dialect.text(of: statement), 0, nil)
        guard code == 1 else { throw .notSent }
    }

    private func send(_ command: PipelineCommand) throws(StoreFailure) {
        let code: Int32
        switch command {
        case .run(let statement, let arguments):
            code = unsafe arguments.withPointers { count, values, lengths, formats in
                unsafe PQsendQueryPrepared(
                    handle, statement.rawValue, count, values, lengths, formats, 1)
            }
        case .text(let sql):
            code = unsafe PQsendQueryParams(handle, sql, 0, nil, nil, nil, nil, 1)
        }
        guard code == 1 else { throw .notSent }
    }

    /// Sends pending data until a result can be read without blocking.
    private func waitForResult(_ deadline: ContinuousClock.Instant) throws(StoreFailure) {
        while true {
            let left = unsafe PQflush(handle)
            guard left >= 0 else { throw lost() }
            if left == 0, unsafe PQisBusy(handle) == 0 { return }
            var request = pollfd(
                fd: unsafe PQsocket(handle), events: Int16(left == 0 ? POLLIN : POLLIN | POLLOUT),
                revents: 0)
            let wait = ContinuousClock.now.duration(to: deadline).millisecondsRoundedUp
            guard wait > 0 else { throw .timedOut }
            let ready = unsafe poll(&request, 1, wait)
            guard ready >= 0 || errno == EINTR else { throw .broken }
            if ready > 0, request.revents != Int16(POLLOUT), unsafe PQconsumeInput(handle) != 1 {
                throw lost()
            }
        }
    }

    /// Why the connection is lost; the server may have reported the reason before it closed the
    /// connection.
    private func lost() -> StoreFailure {
        while let next = unsafe PQgetResult(handle) {
            let refused = RefusedCommand(unsafe PostgreSQLResult(owning: next))
            if refused.failure == .broken { break }
            if refused.failure.code.count == 5, refused.endsConnection { return refused.failure }
        }
        return .broken
    }
}

/// Records whether the server issued a warning.
///
/// Owned by its connection, on whose thread libpq calls the receiver.
private final class Warnings {
    private var exists = false

    func take() -> Bool {
        defer { exists = false }
        return exists
    }

    /// The callback for libpq's messages that are not errors.
    static let receive: PQnoticeReceiver = { board, result in
        guard let board = unsafe board, let result = unsafe result,
            let severity = unsafe PQresultErrorField(result, Int32(UInt8(ascii: "V"))),
            unsafe String(cString: severity) == "WARNING",
            unsafe PQresultErrorField(result, Int32(UInt8(ascii: "W"))) == nil
        else { return }
        unsafe Unmanaged<Warnings>.fromOpaque(board).takeUnretainedValue().exists = true
    }
}

/// A command that is sent in a pipeline.
enum PipelineCommand {
    case run(StoreStatement, StatementArguments = StatementArguments())
    /// Runs a statement without arguments, once.
    case text(String)
}

/// The result of a command in a pipeline.
enum PipelineOutcome {
    case done(PostgreSQLResult)
    case failed(RefusedCommand)
    /// The server skipped the command, because an earlier one failed.
    case skipped
}

extension [PipelineOutcome] {
    /// The results, if every command succeeded.
    func results() throws(StoreFailure) -> [PostgreSQLResult] {
        var results: [PostgreSQLResult] = []
        for outcome in self {
            switch outcome {
            case .done(let result): results.append(result)
            case .failed(let refused): throw refused.failure
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
            // Even an empty value needs an address; a null address would mean NULL.
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
