internal import Glibc

/// A file that was to be erased, but has a second name (a hard link) that is not the program's.
///
/// Its content stays under that name, which may be that of a backup. Only the program's name was
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
    /// Call ``eraseAllButCurrent(in:besides:noting:)`` first; it also completes an interrupted call.
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
