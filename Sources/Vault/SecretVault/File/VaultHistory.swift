internal import WatchwordCryptography
internal import WatchwordSystem

/// The ID of a save of a vault: 8 random bytes.
public struct SaveID: Hashable, Sendable {
    private let value: UInt64

    static let count = 8

    /// Generates a random ID.
    static func make() -> SaveID {
        let bytes = Randomness.bytes(count: count)
        return SaveID(bytes.span)
    }

    /// Creates an ID from its 8 bytes.
    init(_ bytes: Span<UInt8>) {
        precondition(bytes.count == SaveID.count, "a save ID has 8 bytes")
        var value: UInt64 = 0
        for index in bytes.indices { value = value << 8 | UInt64(bytes[index]) }
        self.value = value
    }

    var bytes: [UInt8] {
        (0..<SaveID.count).map { index in
            UInt8(truncatingIfNeeded: value >> UInt64(8 * (SaveID.count - 1 - index)))
        }
    }

    /// Defines an order of IDs that is the same in every file.
    var order: UInt64 { value }

    func write(to output: inout OutputSpan<UInt8>) { output.append(value, bytes: SaveID.count) }

    init(
        reading fields: inout FieldReader, in bytes: Span<UInt8>
    ) throws(FieldReader.Unreadable) {
        value = try fields.number(bytes, width: SaveID.count)
    }
}

/// The newest saves of a vault file, newest first.
///
/// It shows whether another file of the same vault is an earlier state of this one, or was edited
/// independently.
struct VaultHistory: Hashable {
    /// One save of the vault: its generation and ID.
    struct Save: Hashable {
        let generation: UInt64
        let id: SaveID
    }

    /// At least one save, without duplicates; the first save has the greatest generation.
    let saves: [Save]

    /// The maximum number of saves; older ones are dropped.
    static let limit = 512

    /// The history of a file that was saved once, or of format 1.
    init(_ save: Save) { saves = [save] }

    private init(saves: [Save]) { self.saves = saves }

    /// The save of this file.
    var newest: Save { saves[0] }

    /// The save of the file that this one has replaced, if it is known.
    var replaced: Save? { saves.dropFirst().first }

    /// This history followed by another save.
    func followed(by save: Save) -> VaultHistory {
        VaultHistory(saves: [save] + saves.prefix(VaultHistory.limit - 1))
    }

    /// This history followed by a save that undoes the one before it, without the saves that the
    /// undone save added.
    ///
    /// After a merge is undone, the other file is no longer included, and can be merged again.
    ///
    /// - Parameters:
    ///   - previous: the history of the file that the undone save replaced.
    ///   - isMerge: whether the undone save is a merge, which other files may contain; it is
    ///     marked.
    func undoing(to previous: VaultHistory, marking isMerge: Bool) -> VaultHistory {
        var start = Array(saves.prefix(2))
        if isMerge, let replaced { start.append(VaultHistory.mark(undoing: replaced)) }
        let rest = previous.saves.filter { !start.contains($0) }
        return VaultHistory(saves: Array((start + rest).prefix(VaultHistory.limit)))
    }

    /// The mark that a merge was undone: it looks like a save of the same generation.
    private static func mark(undoing merge: Save) -> Save {
        let text = Array("watchword-vault undone".utf8) + merge.id.bytes
        let bytes = Array(sha256(text.span).prefix(SaveID.count))
        return Save(generation: merge.generation, id: SaveID(bytes.span))
    }

    /// The saves, without the marks of merges that were undone.
    func withoutMarks() -> [Save] {
        let marks = Set(saves.map(VaultHistory.mark))
        return saves.filter { !marks.contains($0) }
    }

    /// The part of this history that counts against a file with the history `other`.
    ///
    /// If that file has undone a merge that this history contains, removals and changes up to that
    /// merge may have been undone, so earlier saves are left out.
    func proved(to other: VaultHistory) -> VaultHistory {
        let (own, others) = (Set(saves), Set(other.saves))
        var first: UInt64 = 0
        for save in saves where others.contains(save) {
            let mark = VaultHistory.mark(undoing: save)
            if others.contains(mark), !own.contains(mark) { first = max(first, save.generation) }
        }
        return VaultHistory(saves: saves.filter { $0.generation >= first })
    }

    /// The same history, with this ID for its newest save.
    func renamingNewest(_ id: SaveID) -> VaultHistory {
        VaultHistory(saves: [Save(generation: newest.generation, id: id)] + saves.dropFirst())
    }

    /// Whether the history contains all saves of `other`.
    func containsAll(of other: some Sequence<Save>) -> Bool {
        Set(saves).isSuperset(of: other)
    }

    /// Whether the save `id` is in the history.
    func contains(_ id: SaveID) -> Bool { saves.contains { $0.id == id } }

    /// This history and that of another file, followed by the save that merges them.
    ///
    /// The newest save of this history comes second, because the merge replaced that save.
    func joined(with other: VaultHistory, by save: Save) -> VaultHistory {
        let known = Set(saves)
        let others = (saves.dropFirst() + other.saves.filter { !known.contains($0) })
            .sorted { ($0.generation, $0.id.order) > ($1.generation, $1.id.order) }
        return VaultHistory(
            saves: Array(([save, newest] + others).prefix(VaultHistory.limit)))
    }

    /// Whether this history may have contained an edit of the file with the history `other`, but
    /// has dropped it.
    ///
    /// If so, it is unknown whether the edit was replaced or removed here since.
    func mayHaveDropped(_ edit: SaveID, of other: VaultHistory) -> Bool {
        guard saves.count == VaultHistory.limit, !contains(edit) else { return false }
        guard let save = other.saves.first(where: { $0.id == edit }) else { return true }
        return mayHaveDropped(savesUpTo: save.generation)
    }

    /// Whether a file with this history was saved before `save`, or independently of it.
    func lacks(_ save: Save) -> Bool {
        !saves.contains(save) && !mayHaveDropped(savesUpTo: save.generation)
    }

    /// Whether the history may have contained other saves up to this generation, but has dropped
    /// them.
    func mayHaveDropped(savesUpTo generation: UInt64) -> Bool {
        guard saves.count == VaultHistory.limit else { return false }
        // The last save may be the one that a merge replaced, with a smaller generation than others
        // that were dropped. The save before it is then the merge, whose generation is greater.
        return saves.suffix(2).contains { generation <= $0.generation }
    }

    /// Whether this history may have contained a further save of this generation, but has dropped
    /// it or, in a file of format 1, never recorded it.
    func mayHaveHad(saveOfGeneration generation: UInt64) -> Bool {
        guard saves.count < VaultHistory.limit else {
            return mayHaveDropped(savesUpTo: generation)
        }
        return saves.last.map { generation < $0.generation } ?? false
    }

    /// Whether a record that was last sealed in this generation may have been sealed after this
    /// file and the file with the history `other` diverged.
    func mayHaveSealed(in generation: UInt64, since other: VaultHistory) -> Bool {
        // Dropped saves are older than the saves that both files have.
        if mayHaveDropped(savesUpTo: generation), Set(saves).isDisjoint(with: other.saves) {
            return true
        }
        return saves.contains { $0.generation == generation && !other.contains($0.id) }
    }

    /// Whether the other file is this one, or an earlier state of it.
    ///
    /// If neither of two files includes the other, they were edited independently.
    func includes(_ other: VaultHistory) -> Bool { saves.contains(other.newest) }
}

extension VaultHistory {
    /// The encoded size of the history in bytes.
    var room: Int { 4 + saves.count * (8 + SaveID.count) }

    func write(to output: inout OutputSpan<UInt8>) {
        output.append(UInt64(saves.count), bytes: 4)
        for save in saves {
            output.append(save.generation, bytes: 8)
            save.id.write(to: &output)
        }
    }

    init(
        reading fields: inout FieldReader, in bytes: Span<UInt8>
    ) throws(FieldReader.Unreadable) {
        let count = try fields.number(bytes, width: 4)
        guard (1...UInt64(VaultHistory.limit)).contains(count) else {
            throw FieldReader.Unreadable()
        }
        var saves: [Save] = []
        var known: Set<Save> = []
        for _ in 0..<count {
            let save = Save(
                generation: try fields.number(bytes, width: 8),
                id: try SaveID(reading: &fields, in: bytes))
            // After a merge, two saves may have the same generation.
            guard save.generation >= 1, known.insert(save).inserted,
                saves.first.map({ save.generation < $0.generation }) ?? true
            else { throw FieldReader.Unreadable() }
            saves.append(save)
        }
        self.init(saves: saves)
    }
}
