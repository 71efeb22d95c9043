internal import Synchronization

/// The digests of all active API keys, read at most once a second, so that a sender of many made-up
/// keys without a mark cannot make the server read the database for each of them.
///
/// No such key is issued any more, so the list contains all of them, however old it is. It only says
/// which keys are not looked up: a key that it contains is looked up as always.
final class UnmarkedKeys: Sendable {
    private struct Content {
        var digests: Set<[UInt8]>?
        var readAt: UnixTime?
    }

    private let content = Mutex(Content())

    private static let lifetime: Int64 = 1_000

    /// Whether a key with this digest may exist.
    func mayContain(_ digest: [UInt8], in verifier: Verifier) async -> Bool {
        let now = verifier.now
        let (known, isDue) = content.withLock { content in
            let isDue =
                content.readAt.map { read in
                    abs(now.milliseconds(since: read)) >= Self.lifetime
                } ?? true
            if isDue { content.readAt = now }
            return (content.digests, isDue)
        }
        guard isDue else { return known?.contains(digest) ?? true }
        do throws(VerifierError) {
            let active = try await verifier.clients().filter { $0.revokedAt == nil }
            let digests = Set(active.map(\.digest))
            content.withLock { $0.digests = digests }
            return digests.contains(digest)
        } catch {
            // The look-up itself reports the failure.
            return true
        }
    }
}
