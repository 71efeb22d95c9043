import Glibc
import SQLStore
import SQLiteStore
import StoreContract
import Verification

/// The writer for tests: decides on a database in a process that can be killed, starved and raced.
///
/// It writes each result as one line to standard output, without a buffer.
@main struct StoreWriter {
    static func main() async throws {
        let arguments = CommandLine.arguments
        precondition(
            arguments.count == 5, "store-writer VERB PATH NUMBER COUNT")
        let path = arguments[2]
        let number = Int(arguments[3]) ?? 0
        let count = Int(arguments[4]) ?? 0
        if arguments[1] == "restore" { return restore(path) }
        let store: SQLiteVerificationStore
        do {
            store = try SQLiteVerificationStore(
                opening: path, key: StoreKeys.known.auditKey, timeout: .seconds(20))
        } catch {
            return say("refused \(error)")
        }
        switch arguments[1] {
        case "write": await write(store, number, count)
        case "decide": await decide(store, number, count)
        case "spend": await spend(store, number, count)
        case "ask": await ask(store, number, count)
        case "answer": await answerChallenges(store, number, count)
        case "together": await Gathering(store).run(path: path, number: number, count: count)
        case "backup": backup(store, path)
        default: preconditionFailure("unknown verb")
        }
        store.close()
    }

    /// Inserts `count` new rows.
    static func write(_ store: SQLiteVerificationStore, _ number: Int, _ count: Int) async {
        for index in 0..<count {
            let row = CredentialRow.sample(1_000 * (number + 1) + index)
            await answer(store, [.insertCredential(row), .appendEvent(.sample(index))], index)
        }
    }

    /// Advances row `number` by `count` versions, possibly while other processes do the same.
    static func decide(_ store: SQLiteVerificationStore, _ number: Int, _ count: Int) async {
        var done = 0
        var failures = 0
        while done < count, failures < count {
            do throws(StoreFailure) {
                guard let row = try store.credential(.sample(number)) else { return say("no row") }
                let next = CredentialRow.sample(
                    number, version: row.version + 1, body: Int(row.version))
                let event = Event.sample(Int(next.version))
                let outcome = try await store.commit([
                    .updateCredential(next), .appendEvent(event),
                ])
                guard outcome == .done else { continue }
                done += 1
                say("done \(next.version)")
            } catch {
                failures += 1
                say("failure \(error.kind) \(error.code)")
            }
        }
        // Close the store on the thread that decided last, because strace counts the calls of each
        // thread separately.
        store.close()
    }

    /// Spends the tickets from `number` on.
    static func spend(_ store: SQLiteVerificationStore, _ number: Int, _ count: Int) async {
        for index in number..<(number + count) {
            let digest = TicketRow.sample(index).digest
            await answer(
                store, [.spendTicket(digest: digest), .appendEvent(.sample(index))], index)
        }
    }

    /// Inserts the challenges from `number` on.
    static func ask(_ store: SQLiteVerificationStore, _ number: Int, _ count: Int) async {
        for index in number..<(number + count) {
            await answer(store, [.insertChallenge(.sample(index))], index)
        }
    }

    /// Spends the challenges from `number` on, each together with a new ticket and an event.
    static func answerChallenges(
        _ store: SQLiteVerificationStore, _ number: Int, _ count: Int
    ) async {
        for index in number..<(number + count) {
            let digest = ChallengeRow.sample(index).digest
            await answer(
                store,
                [
                    .spendChallenge(digest: digest), .insertTicket(.sample(index)),
                    .appendEvent(.sample(index)),
                ], index)
        }
        // Closed here for the same reason as in `decide`.
        store.close()
    }

    /// Backs the database up to a file beside it.
    static func backup(_ store: SQLiteVerificationStore, _ path: String) {
        do throws(SQLStoreError) {
            try store.backUp(to: "\(path).copy", now: .at(0))
            say("done")
        } catch {
            say("failure \(error)")
        }
    }

    /// Restores the database from the backup beside it.
    static func restore(_ path: String) {
        do throws(SQLStoreError) {
            _ = try SQLiteVerificationStore.restore(
                from: "\(path).copy", to: path, key: StoreKeys.known.auditKey,
                RestoreOptions(now: .at(100)))
            say("done")
        } catch {
            say("failure \(error)")
        }
    }

    static func answer(_ store: SQLiteVerificationStore, _ changes: [StoreChange], _ number: Int)
        async
    {
        do throws(StoreFailure) {
            say("\(try await store.commit(changes)) \(number)")
        } catch {
            say("failure \(error.kind) \(error.code)")
        }
    }

    static func say(_ line: String) {
        // Unbuffered, so that a kill does not lose results already reported.
        var line = line + "\n"
        line.withUTF8 { bytes in _ = unsafe Glibc.write(1, bytes.baseAddress, bytes.count) }
    }
}
