import Foundation
import PostgreSQLStore
import SQLiteStore
import Verification
import WatchwordCryptography

/// Measures the verifier on a store; prints lines “NAME NUMBER”.
///
///     fill STORE KEYS COUNT [PREFIX]  enrols COUNT credentials with the keys that `bodies` uses;
///                                 PREFIX is that of the subjects
///     fill-passkeys STORE KEYS COUNT  registers COUNT passkeys, which `assertions` and
///                                 `sign` use
///     assertions KEYS EPOCH COUNT STORE…  nanoseconds per assertion, and per code and bare
///                                 signature check, alternating between filled stores
///     sign                        reads lines “NUMBER CHALLENGE”, and prints what a browser returns
///     bodies COUNT                prints request bodies with their current codes, as JSON lines
///     callers STORE KEYS COUNT EPOCH  nanoseconds per decision with 1, 8, 32 and 128 callers
///     decisions STORE COUNT       nanoseconds per decision with 1 and 32 callers, and per bare
///                                 update
///     scale KEYS EPOCH COUNT STORE…  nanoseconds per decision with 1 and 32 callers,
///                                 alternating between filled stores
///     denials STORE COUNT [wrong|unknown]  nanoseconds of COUNT wrong codes and unknown subjects
///     signature-denials passkeys|keys STORE COUNT  the same for wrong
///                                 signatures and unknown credentials
///     year STORE                  a year of logins, with daily pruning
///
/// A store is a path for SQLite, or a connection string with `dbname=` for PostgreSQL. KEYS is the
/// server's key file, which is created if it is missing.
@main
enum StoreBenchmark {
    static func main() async throws {
        let arguments = Array(CommandLine.arguments.dropFirst())
        switch (arguments.first, arguments.count) {
        case ("fill", 4...5), ("fill-passkeys", 4):
            let place = Place(arguments[1], keys: try Place.ring(arguments[2]))
            let store = try place.open()
            // SQLite has no timeouts except for locks.
            let batch = store is SQLiteVerificationStore ? 48_000 : 480
            let count = try count(arguments[3])
            if arguments[0] == "fill" {
                var population = Population(count: count)
                if arguments.count > 4 { population.prefix = arguments[4] }
                try await population.fill(store, keys: place.keys, batch: batch)
            } else {
                try await PasskeyPopulation(count: count)
                    .fill(store, keys: place.keys, batch: batch)
            }
            try place.close(store)
        case ("assertions", 5...) where arguments.count % 2 == 1:
            let keys = try Place.ring(arguments[1])
            let sizes = try stride(from: 3, to: arguments.count, by: 2).map { index in
                let population = try PasskeyPopulation(count: try count(arguments[index]))
                return (population, Place(arguments[index + 1], keys: keys))
            }
            try await Assertions(sizes: sizes, epoch: count(arguments[2])).run()
        case ("sign", 1):
            try sign()
        case ("callers", 5):
            let place = Place(arguments[1], keys: try Place.ring(arguments[2]))
            try await Callers(
                place: place, population: Population(count: count(arguments[3])),
                epoch: count(arguments[4])
            ).run()
        case ("bodies", 2):
            try bodies(count(arguments[1]))
        case ("decisions", 3):
            try await Decisions(Place(arguments[1]), count(arguments[2])).run()
        case ("scale", 5...) where arguments.count % 2 == 1:
            let keys = try Place.ring(arguments[1])
            let sizes = try stride(from: 3, to: arguments.count, by: 2).map { index in
                let population = Population(count: try count(arguments[index]))
                return (population, Place(arguments[index + 1], keys: keys))
            }
            try await Scale(sizes: sizes, epoch: count(arguments[2])).run()
        case ("denials", 3...4):
            let kinds = arguments.dropFirst(3).compactMap { Denials.Kind(rawValue: $0) }
            try await Denials(Place(arguments[1]), count(arguments[2]))
                .run(kinds.isEmpty ? Denials.Kind.allCases : kinds)
        case ("signature-denials", 4):
            guard let credentials = SignatureDenials.Credentials(rawValue: arguments[1]) else {
                throw BenchmarkError.usage
            }
            try await SignatureDenials(Place(arguments[2]), count(arguments[3])).run(credentials)
        case ("year", 2):
            try await Year(Place(arguments[1])).run()
        default:
            throw BenchmarkError.usage
        }
    }

    private static func count(_ text: String) throws -> Int {
        guard let count = Int(text), count > 0 else { throw BenchmarkError.usage }
        return count
    }

    private static func bodies(_ count: Int) throws {
        let now = Int64(Date().timeIntervalSince1970)
        let population = Population(count: count)
        for number in 0..<count {
            print(
                #"{"subject":"subject-\#(number)","code":"\#(population.code(number, at: now))"}"#)
        }
    }

    private static func sign() throws {
        let population = try PasskeyPopulation(count: 1)
        while let line = readLine() {
            let words = line.split(separator: " ")
            guard words.count == 2, let number = Int(words[0]) else { throw BenchmarkError.usage }
            let text = Array(words[1].utf8)
            let challenge = try Base64URL.decode(text.span)
            // Not `print`, which keeps lines back if the output is a pipe.
            let line = try population.signed(number, challenge) + [UInt8(ascii: "\n")]
            FileHandle.standardOutput.write(Data(line))
        }
    }

    static func say(_ name: String, _ number: some BinaryInteger) { print(name, number) }
}

/// A store and its keys.
struct Place: Sendable {
    /// A path, or a libpq connection string.
    let address: String
    let keys: KeyRing

    init(_ address: String, keys: KeyRing) {
        self.address = address
        self.keys = keys
    }

    /// Opens the store with new keys.
    init(_ address: String) throws { self.init(address, keys: try KeyRing.make()) }

    func open() throws -> any VerificationStore {
        guard address.contains("dbname=") else { return try openFile() }
        guard let server = PostgreSQLAddress(address) else { throw BenchmarkError.usage }
        return try PostgreSQLVerificationStore(connecting: server, key: keys.auditKey)
    }

    func openFile() throws -> SQLiteVerificationStore {
        try SQLiteVerificationStore(opening: address, key: keys.auditKey)
    }

    func close(_ store: any VerificationStore) throws {
        switch store {
        case let store as SQLiteVerificationStore: store.close()
        case let store as PostgreSQLVerificationStore: store.close()
        default: throw BenchmarkError.usage
        }
    }

    /// Reads the keys from a key file, or creates the file.
    static func ring(_ path: String) throws -> KeyRing { try KeyRing(at: path) { false } }
}
