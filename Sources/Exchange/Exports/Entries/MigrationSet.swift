public import OneTimePassword
internal import WatchwordCryptography

/// One Google Authenticator export, assembled from parts in any order.
public struct MigrationSet: Sendable {
    /// The number of parts in the export.
    public let size: Int
    /// The export's identifier; 0 for version 2, whose exports differ only in size and index.
    public let id: Int32
    /// The version, which all parts share.
    public let version: Int
    private var batches: [Int: MigrationBatch]

    /// Starts with one part.
    public init(_ first: MigrationBatch) {
        size = first.size
        id = first.id
        version = first.version
        batches = [first.index: first]
    }

    /// The indexes of the missing parts, counted from zero.
    public var missing: [Int] { (0..<size).filter { batches[$0] == nil } }

    /// Whether every part is present.
    public var isComplete: Bool { batches.count == size }

    /// The credentials of the parts that are present, in the export's order.
    public var credentials: [Credential] {
        (0..<size).flatMap { batches[$0]?.credentials ?? [] }
    }

    /// The result of adding a part.
    public enum Outcome: Hashable, Sendable {
        /// The part was missing and was added.
        case added
        /// The part was already present, with the same content.
        case repeated
        /// The part belongs to another export.
        case foreign
    }

    /// Adds a part if it belongs to this export.
    public mutating func add(_ batch: MigrationBatch) -> Outcome {
        guard batch.size == size, batch.id == id, batch.version == version else { return .foreign }
        guard let present = batches[batch.index] else {
            batches[batch.index] = batch
            return .added
        }
        return present.hasSameContent(as: batch) ? .repeated : .foreign
    }
}

/// All exports of which parts were added.
public struct MigrationCollection: Sendable {
    /// The exports, in the order in which their first parts were added.
    public private(set) var sets: [MigrationSet] = []
    private var families: [Family.Key: Family] = [:]

    /// Exports that can be distinguished only by their parts.
    private struct Family {
        struct Key: Hashable {
            let version: Int
            let size: Int
            let id: Int32
        }

        struct Part: Hashable {
            let index: Int
            let contentHash: Int
        }

        /// The exports' indexes in the collection's `sets`, in ascending order.
        var sets: [Int] = []
        /// How many of these exports have a part with this index.
        ///
        /// These are always the first ones, because each part is added to the first export that
        /// lacks it.
        var counts: [Int: Int] = [:]
        /// The indexes in `sets` of the exports that have a part with this content.
        var holders: [Part: [Int]] = [:]
    }

    /// Creates an empty collection.
    public init() {}

    /// Adds a part to the first export that it belongs to, or starts a new export with it.
    ///
    /// The time that this takes does not depend on the number of exports.
    ///
    /// - Returns: whether the part was already present.
    @discardableResult
    public mutating func add(_ batch: MigrationBatch) -> MigrationSet.Outcome {
        let key = Family.Key(version: batch.version, size: batch.size, id: batch.id)
        let part = Family.Part(index: batch.index, contentHash: batch.contentHash)
        var family = families.removeValue(forKey: key) ?? Family()
        defer { families[key] = family }
        for place in family.holders[part, default: []] where sets[place].holds(batch) {
            return .repeated
        }
        let count = family.counts[batch.index, default: 0]
        family.counts[batch.index] = count + 1
        if count == family.sets.count {
            family.sets.append(sets.count)
            sets.append(MigrationSet(batch))
        } else {
            _ = sets[family.sets[count]].add(batch)
        }
        family.holders[part, default: []].append(family.sets[count])
        return .added
    }
}

extension MigrationSet {
    /// Whether the part is present with the same content.
    fileprivate func holds(_ batch: MigrationBatch) -> Bool {
        batches[batch.index]?.hasSameContent(as: batch) ?? false
    }
}

extension MigrationBatch {
    fileprivate func hasSameContent(as other: MigrationBatch) -> Bool {
        credentials == other.credentials && refusals == other.refusals
    }

    /// A hash of the part's content.
    ///
    /// It is keyed with a random key of this process, so nobody can construct parts that collide.
    fileprivate var contentHash: Int {
        var hasher = Hasher()
        hasher.combine(refusals)
        for credential in credentials {
            hasher.combine(credential.issuer)
            hasher.combine(credential.account)
            credential.key.withBytes { bytes in
                for index in bytes.indices { hasher.combine(bytes[index]) }
            }
        }
        return hasher.finalize()
    }
}
