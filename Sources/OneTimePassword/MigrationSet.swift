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
        let isSame =
            present.credentials == batch.credentials && present.refusals == batch.refusals
        return isSame ? .repeated : .foreign
    }
}

/// All exports of which parts have come, each told from the others.
public struct MigrationCollection: Sendable {
    /// The exports, in the order in which their first parts came.
    public private(set) var sets: [MigrationSet] = []

    /// Begins with none.
    public init() {}

    /// Takes a part to the first export that it belongs to, or begins a new one with it.
    ///
    /// - Returns: whether it was there already.
    @discardableResult
    public mutating func add(_ batch: MigrationBatch) -> MigrationSet.Outcome {
        for index in sets.indices {
            let outcome = sets[index].add(batch)
            if outcome != .foreign { return outcome }
        }
        sets.append(MigrationSet(batch))
        return .added
    }
}
