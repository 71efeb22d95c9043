import Exports
import OneTimePassword
import TestSupport
import Testing
import WatchwordCryptography

struct MigrationVector: Codable, Sendable {
    struct Entry: Codable, Sendable {
        let issuer: String
        let account: String
        let key: String
        let algorithm: String
        let digits: Int
        let counter: String?
    }

    let name: String
    let version: Int
    let size: Int
    let index: Int
    let id: Int32
    let uri: String
    let entries: [Entry]

    func credentials() throws -> [Credential] {
        try entries.map { entry in
            let counter = try entry.counter.map { try #require(UInt64($0)) }
            return try Credential(
                issuer: entry.issuer, account: entry.account, key: SecretBytes(hex: entry.key),
                algorithm: #require(HashAlgorithm(rawValue: entry.algorithm)),
                style: .decimal(#require(CodeLength(digits: entry.digits))),
                movingFactor: counter.map(MovingFactor.counter) ?? .time(.standard))
        }
    }
}

@Suite("Google's exports, written by an independent program")
struct MigrationVectorTests {
    @Test(
        "a part of an export is read",
        arguments: try VectorFile<MigrationVector>("migration/exports.json").cases)
    func read(vector: MigrationVector) throws {
        let batch = try MigrationBatch(vector.uri)
        #expect(batch.version == vector.version)
        #expect((batch.size, batch.index, batch.id) == (vector.size, vector.index, vector.id))
        #expect(batch.warnings.isEmpty && batch.refusals.isEmpty)
        #expect(batch.credentials == (try vector.credentials()))
    }

    @Test(
        "a part of an export is written byte for byte as an independent program writes it",
        arguments: try VectorFile<MigrationVector>("migration/exports.json").cases)
    func written(vector: MigrationVector) throws {
        let batch = try #require(
            MigrationBatch(
                credentials: vector.credentials(), size: vector.size, index: vector.index,
                id: vector.id, version: vector.version))
        #expect(batch.format().text == vector.uri)
    }

    @Test("parts of several exports, in reverse order, are assembled into their sets")
    func sets() throws {
        let vectors = try VectorFile<MigrationVector>("migration/exports.json").cases
        var collection = MigrationCollection()
        for vector in vectors.reversed() { collection.add(try MigrationBatch(vector.uri)) }
        #expect(collection.sets.count == Set(vectors.map(\.name)).count)
        #expect(collection.sets.flatMap(\.missing).isEmpty)
        let accounts = collection.sets.reversed().flatMap { $0.credentials.map(\.account) }
        #expect(accounts == vectors.flatMap { $0.entries.map(\.account) })
    }
}
