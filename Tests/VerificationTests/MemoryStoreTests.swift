import StoreContract
import Testing
import Verification
import WatchwordCryptography

/// Runs the contract of the stores against the reference implementation.
@Suite("MemoryStore")
struct MemoryStoreTests {
    @Test("the memory store satisfies the store contract", arguments: StoreContract.rules)
    func contract(rule: StoreContract.Rule) async throws {
        let key = StoreKeys.known.auditKey
        let store = MemoryStore(node: sampleBytes(1, count: 16), key: key)
        try await rule.check(StoreContract.Subject(store, key: key))
    }

    @Test("pruning removes in batches everything that has expired, and nothing else")
    func pruneAll() async throws {
        let store = MemoryStore(
            node: sampleBytes(1, count: 16), key: StoreKeys.known.auditKey)
        for number in 0..<600 {
            let time: Int64 = number < 501 ? 10 : 20
            _ = await store.commit([
                .insertAnswer(.sample(number, expiresAt: time)),
                .appendEvent(.sample(number, at: time)),
            ])
        }
        let gone = try await store.pruneAll(Pruning(now: .at(10), eventsBefore: .at(15)))
        #expect(
            gone
                == PruningOutcome(answers: 501, events: 501))
        #expect(await store.events(after: 0, limit: 1_000).count == 99)
        #expect(try await store.pruneAll(Pruning(now: .at(10))).events == 0)
    }
}

/// The bytes that the authentication code of a row covers.
struct StoredRowTests {
    /// Rows with and without each optional value, and the SHA-256 digests of their bytes, computed
    /// by a different implementation of the encoding.
    private static let rows: [(row: any StoredRow, digest: String)] = [
        (CredentialRow.sample(1, key: nil), "MBowTVKZCH5JCtMy_S_j0k9LUv6DhXn2XuGIKsXif4g"),
        (
            CredentialRow.sample(
                2, subject: "b\u{e9}", kind: .secret, state: .pending, version: 9, key: .max,
                fingerprint: 7, lapsesAt: 600), "92yeSBvADD-NP-EbufY-x2WEztoX7MK3INERj-cLhV0"
        ),
        (TicketRow.sample(1), "Y3GsPKTo1NkkIDsO68BX0JPnxQvOnVaLU0PJFiU4gY8"),
        (TicketRow.sample(2), "mXQEvF4nQFSFoTO74qhtQaJrf2QEkrBDOzDk9YQZFM8"),
        (ChallengeRow.sample(1), "52OYRa1kyY6c29pW6rd21bDEA2x9-TU2Uu9Ide4HoMI"),
        (
            ChallengeRow.sample(2, purpose: .confirm, subject: nil, credential: nil),
            "53MwazauRzyr_S0d8f55nF9sIFi80xTHODUgvOcQzt4"
        ),
        (AnswerRow.sample(1, credential: 3), "89n7-xruCLA5MiAeFrylrarUHPPxHce1tAxZEwSXNzI"),
        (AnswerRow.sample(2, key: nil), "sWWL4qjkJCMKez3S9tsSEPQu2zVtYmGJOR_jFGz0PJo"),
        (ClientRow.sample(1), "cklonyvz8uHoppLfu8KNvffZ6-4Vs5nl9H5WlSF93o4"),
        (
            ClientRow.sample(2, version: 3, name: "\u{1f511}", scopes: [], revokedAt: 5),
            "8a3MZbWa_HuxjrKVe-F3qoL0tu3MdWbcRosxlMuD-Zw"
        ),
    ]

    @Test("the encoding of rows never changes, because stored authentication codes cover it")
    func unchanged() {
        for (row, digest) in Self.rows {
            let found = sha256(row.authenticatedBytes.span)
            #expect(Base64URL.encode(found.span) == digest, "\(row)")
        }
    }
}
