// Erasing and removing generations of the file.
extension FileReplacement {
    /// Overwrites the content of the previous file and removes it.
    ///
    /// A disk that writes new data to different blocks (flash, copy-on-write) can still keep the
    /// old blocks, and so can a file system without hard links, where the previous file is a copy.
    ///
    /// - Parameter own: the folder of the working files.
    public func erasePrevious(in own: borrowing Folder) throws(PrivateFileError) {
        try expectOwnOrNothing(previous, in: own)
        try system { () throws(SystemCallFailure) in
            guard try own.holds(previous) else { return }
            // Rename it first: a partly overwritten file with the new name is removed by the next
            // writer, and no reader treats it as the previous generation.
            try own.rename(previous, to: newPreviousName, in: own)
            try erase(newPreviousName, in: own)
            try own.synchronize()
        }
    }

    /// Overwrites and removes everything except the file itself: the previous file, and what killed
    /// writers left behind.
    public func eraseAllButCurrent(in folder: borrowing Folder, besides own: borrowing Folder)
        throws(PrivateFileError)
    {
        try removeLeftovers(in: own, besides: folder)
        try erasePrevious(in: own)
    }

    /// Overwrites and removes the file itself.
    ///
    /// Call ``eraseAllButCurrent(in:besides:)`` first; it also completes an interrupted call.
    public func eraseCurrent(in folder: borrowing Folder, besides own: borrowing Folder)
        throws(PrivateFileError)
    {
        try expectOwnOrNothing(name, in: folder)
        try system { () throws(SystemCallFailure) in
            guard try folder.holds(name) else { return }
            // Rename it first: no reader then finds a partly overwritten file.
            try folder.rename(name, to: aside, in: own)
            try folder.synchronize()
            try erase(aside, in: own)
            try own.synchronize()
        }
    }

    /// Overwrites and removes everything except the file itself, whose working files are next to
    /// it.
    public func eraseAllButCurrent(in folder: borrowing Folder) throws(PrivateFileError) {
        try eraseAllButCurrent(in: folder, besides: folder)
    }

    /// Removes the file permanently, without keeping a copy.
    ///
    /// - Throws: ``PrivateFileError/notConfirmed(_:)`` if it was removed, but may return after
    ///   a power failure.
    public func remove(in folder: borrowing Folder) throws(PrivateFileError) {
        try expectOwnOrNothing(name, in: folder)
        try system { () throws(SystemCallFailure) in try folder.remove(name) }
        do { try folder.synchronize() } catch { throw .notConfirmed(error) }
    }
}
