internal import Cryptography

/// One export of Google Authenticator, put together from its parts in whatever order they come.
public struct MigrationSet: Sendable {
    /// How many parts the export has.
    public let size: Int
    /// The export's number; 0 for version 2, where only size and place tell exports apart.
    public let id: Int32
    /// The version that all parts have.
    public let version: Int
    private var batches: [Int: MigrationBatch]

    /// Begins with one part.
    public init(_ first: MigrationBatch) {
        size = first.size
        id = first.id
        version = first.version
        batches = [first.index: first]
    }

    /// The parts that have not come yet, counted from zero.
    public var missing: [Int] { (0..<size).filter { batches[$0] == nil } }

    /// Whether every part is there.
    public var isComplete: Bool { batches.count == size }

    /// The credentials of the parts that are there, in the export's order.
    public var credentials: [Credential] {
        (0..<size).flatMap { batches[$0]?.credentials ?? [] }
    }

    /// What came of a part.
    public enum Outcome: Hashable, Sendable {
        /// It was missing until now.
        case added
        /// It was there already, with the same content.
        case repeated
        /// It belongs to another export.
        case foreign
    }

    /// Takes one more part, if it belongs here.
    public mutating func add(_ batch: MigrationBatch) -> Outcome {
        guard batch.size == size, batch.id == id, batch.version == version else { return .foreign }
        guard let present = batches[batch.index] else {
            batches[batch.index] = batch
            return .added
        }
        return present.holdsTheSame(as: batch) ? .repeated : .foreign
    }
}

/// All exports of which parts have come, each told from the others.
public struct MigrationCollection: Sendable {
    /// The exports, in the order in which their first parts came.
    public private(set) var sets: [MigrationSet] = []
    private var families: [Family.Key: Family] = [:]

    /// The exports that only their parts tell apart.
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

        /// Their places in `sets`, in rising order.
        var sets: [Int] = []
        /// How many of them have the part with this index.
        ///
        /// They are the first ones, as each part goes to the first export that lacks it.
        var counts: [Int: Int] = [:]
        /// The places in `sets` of those that have a part with this content.
        var holders: [Part: [Int]] = [:]
    }

    /// Begins with none.
    public init() {}

    /// Takes a part to the first export that it belongs to, or begins a new one with it.
    ///
    /// It takes the same time however many exports there are.
    ///
    /// - Returns: whether it was there already.
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
    /// Whether the part is there with the same content.
    fileprivate func holds(_ batch: MigrationBatch) -> Bool {
        batches[batch.index]?.holdsTheSame(as: batch) ?? false
    }
}

extension MigrationBatch {
    fileprivate func holdsTheSame(as other: MigrationBatch) -> Bool {
        credentials == other.credentials && refusals == other.refusals
    }

    /// A hash of what the part holds.
    ///
    /// Its key is this process's own random one, so nobody can write parts whose hashes meet.
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
