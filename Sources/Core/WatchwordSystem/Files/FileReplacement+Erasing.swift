internal import Glibc

/// A file that was to be erased, but has a second name (a hard link) that is not the program's.
///
/// Its content stays under that name, which may belong to a backup. Only the program's name was
/// removed.
public struct LinkedFile: Hashable, Sendable {
    /// The inode number, by which `find -inum` finds the other names.
    public let number: UInt64

    /// Identifies a file by its inode number.
    public init(number: UInt64) { self.number = number }
}

// Erasing and removing generations of the file.
//
// Each function adds the files that it could not erase because of a second name to `linked`.
extension FileReplacement {
    /// Overwrites the content of the previous file and removes it.
    ///
    /// A disk that writes new data to different blocks (flash, copy-on-write) can still keep the
    /// old blocks, and so can a file system without hard links, where the previous file is a copy.
    ///
    /// - Parameters:
    ///   - folder: the folder of the file itself.
    ///   - own: the folder of the working files.
    public func erasePrevious(
        in folder: borrowing Folder, besides own: borrowing Folder,
        noting linked: inout [LinkedFile]
    ) throws(FileError) {
        try expectOwnOrNothing(previous, in: own)
        // Rename it first: a partly overwritten file with the new name is removed by the next
        // writer, and no reader treats it as the previous generation.
        guard try FileError.system(in: own.holds(previous)) else { return }
        try FileError.system(in: own.rename(previous, to: newPreviousName, in: own))
        try erase(newPreviousName, in: own, besides: folder, noting: &linked)
        try FileError.system(in: own.synchronize())
    }

    /// Replaces the previous file with one that contains `bytes`, and erases the old one.
    ///
    /// If there is no room for both, or if the file system cannot exchange two files, the previous
    /// file is only erased. Call ``eraseLeftovers(in:besides:noting:)`` first.
    public func replacePrevious(
        with bytes: Span<UInt8>, in folder: borrowing Folder, besides own: borrowing Folder,
        noting linked: inout [LinkedFile]
    ) throws(FileError) {
        try expectOwnOrNothing(previous, in: own)
        do throws(SystemCallFailure) {
            try write(bytes, to: newPreviousName, in: own)
            try own.exchange(newPreviousName, with: previous, in: own)
        } catch {
            try FileError.system(in: own.remove(newPreviousName))
            return try erasePrevious(in: folder, besides: own, noting: &linked)
        }
        // From here on, a killed writer leaves a file that the next one erases.
        try erase(newPreviousName, in: own, besides: folder, noting: &linked)
        try FileError.system(in: own.synchronize())
    }

    /// Overwrites and removes what killed writers left behind, and the old file after it was
    /// ``Previous/discarded``.
    public func eraseLeftovers(
        in folder: borrowing Folder, besides own: borrowing Folder,
        noting linked: inout [LinkedFile]
    ) throws(FileError) {
        try removeLeftovers(in: own, besides: folder, noting: &linked)
    }

    /// Overwrites and removes everything except the file itself: the previous file, and what killed
    /// writers left behind.
    public func eraseAllButCurrent(
        in folder: borrowing Folder, besides own: borrowing Folder,
        noting linked: inout [LinkedFile]
    ) throws(FileError) {
        try removeLeftovers(in: own, besides: folder, noting: &linked)
        try erasePrevious(in: folder, besides: own, noting: &linked)
    }

    /// Overwrites and removes the file itself.
    ///
    /// Call ``eraseAllButCurrent(in:besides:noting:)`` first; it also completes an interrupted
    /// call.
    public func eraseCurrent(
        in folder: borrowing Folder, besides own: borrowing Folder,
        noting linked: inout [LinkedFile]
    ) throws(FileError) {
        try expectOwnOrNothing(name, in: folder)
        // Rename it first: no reader then finds a partly overwritten file.
        guard try FileError.system(in: folder.holds(name)) else { return }
        try FileError.system(in: folder.rename(name, to: aside, in: own))
        try FileError.system(in: folder.synchronize())
        try erase(aside, in: own, besides: folder, noting: &linked)
        try FileError.system(in: own.synchronize())
    }

    /// Removes the file permanently, without keeping a copy.
    ///
    /// - Throws: ``FileError/notConfirmed(_:)`` if it was removed, but may return after
    ///   a power failure.
    public func remove(in folder: borrowing Folder) throws(FileError) {
        try expectOwnOrNothing(name, in: folder)
        try FileError.system(in: folder.remove(name))
        try FileError.confirming(folder.synchronize())
    }
}

// Files that a killed writer left behind, and how to distinguish them from other files with the
// same names.
extension FileReplacement {
    /// Removes what a killed writer left behind.
    ///
    /// Other files with these names are not changed.
    ///
    /// - Parameter folder: the folder of the file itself, which may share its blocks with a
    ///   leftover.
    func removeLeftovers(
        in own: borrowing Folder, besides folder: borrowing Folder,
        noting linked: inout [LinkedFile]
    ) throws(FileError) {
        try endExchange(in: own, besides: folder)
        for leftover in [aside, newPreviousName] {
            guard let facts = try FileError.system(in: own.facts(of: leftover)) else { continue }
            guard FileKind.isPrivateFile(facts), try beginsLikeOwnFile(leftover, facts, in: own)
            else { throw .inTheWay(name: leftover) }
            try erase(leftover, in: own, besides: folder, noting: &linked)
        }
    }

    /// Stops if the name belongs to anything other than a generation of this file.
    func expectOwnOrNothing(_ name: String, in folder: borrowing Folder)
        throws(FileError)
    {
        guard let facts = try FileError.system(in: folder.facts(of: name)) else { return }
        guard FileKind.isPrivateFile(facts), try beginsLikeOwnFile(name, facts, in: folder) else {
            throw .inTheWay(name: name)
        }
    }

    /// Whether the working folder contains a file with the complete beginning of a generation of
    /// this file, whatever its mode is.
    public func holdsGeneration(in own: borrowing Folder) throws(FileError) -> Bool {
        for name in [previous, newPreviousName, aside, displaced] {
            guard let facts = try FileError.system(in: own.facts(of: name)),
                FileKind(facts) == .file, facts.st_size >= beginning.count
            else { continue }
            if try beginsLikeOwnFile(name, facts, in: own, orAs: nil) { return true }
        }
        return false
    }

    /// Overwrites the file's content except its beginning, and removes its name.
    ///
    /// If it has a second name, only this name is removed. The second name may be the name of the
    /// current or previous file; if it is not, the file is added to `linked`.
    func erase(
        _ leftover: String, in own: borrowing Folder, besides folder: borrowing Folder,
        noting linked: inout [LinkedFile]
    ) throws(FileError) {
        do throws(SystemCallFailure) {
            if let facts = try own.facts(of: leftover), facts.st_size > beginning.count {
                if facts.st_nlink == 1 {
                    // Otherwise a power failure could give the overwritten file its former name
                    // back.
                    try own.synchronize()
                    try overwrite(leftover, in: own)
                } else if try !isSameFile(leftover, in: own, name, in: folder),
                    try !isSameFile(leftover, in: own, previous, in: own)
                {
                    linked.append(LinkedFile(number: UInt64(facts.st_ino)))
                }
            }
            try own.remove(leftover)
        } catch {
            throw .system(error)
        }
    }

    // The checks are made on the open file, so the file that is checked is the one that is
    // overwritten.
    private func overwrite(_ name: String, in folder: borrowing Folder) throws(SystemCallFailure) {
        let file = try folder.open(name, O_WRONLY)
        let facts = try file.facts()
        guard FileKind.isPrivateFile(facts), facts.st_nlink == 1 else { return }
        // The beginning is kept, so that a partly erased file can be recognised.
        let rest = max(Int(facts.st_size) - beginning.count, 0)
        try file.writeAll([UInt8](repeating: 0, count: rest).span, at: beginning.count)
        try file.synchronize()
    }

    /// Whether the file begins like one of ours; a file that is too short must match as far as it
    /// goes.
    private func beginsLikeOwnFile(_ name: String, _ facts: stat, in folder: borrowing Folder)
        throws(FileError) -> Bool
    {
        try beginsLikeOwnFile(name, facts, in: folder, orAs: name == aside ? otherLeftover : nil)
    }

    private func beginsLikeOwnFile(
        _ name: String, _ facts: stat, in folder: borrowing Folder, orAs other: FileBeginning?
    ) throws(FileError) -> Bool {
        // A file that was just created may not even be readable, because its mode is set later.
        guard facts.st_size > 0 else { return true }
        let beginnings = [beginning] + (other.map { [$0] } ?? [])
        for beginning in beginnings {
            let start = try FileError.system(
                in: SystemCallFailure.nilIf(
                    \.isPermissionDenied,
                    folder.open(name, O_RDONLY).bytes(atMost: beginning.count)))
            guard let start else { return false }
            if beginning.isBegun(by: start) { return true }
        }
        return false
    }
}
