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

    /// Replaces the previous file with one that contains `bytes`, and erases the old one.
    ///
    /// If there is no room for both, or if the file system cannot exchange two files, the previous
    /// file is only erased. Call ``eraseLeftovers(in:besides:)`` first.
    public func replacePrevious(
        with bytes: Span<UInt8>, in own: borrowing Folder
    ) throws(PrivateFileError) {
        try expectOwnOrNothing(previous, in: own)
        do throws(PrivateFileError) {
            try write(bytes, to: newPreviousName, in: own)
            try system { () throws(SystemCallFailure) in
                try own.exchange(newPreviousName, with: previous, in: own)
            }
        } catch {
            try system { () throws(SystemCallFailure) in try own.removeFile(newPreviousName) }
            return try erasePrevious(in: own)
        }
        // From here on, a killed writer leaves a file that the next one erases.
        try system { () throws(SystemCallFailure) in
            try erase(newPreviousName, in: own)
            try own.synchronize()
        }
    }

    /// Overwrites and removes what killed writers left behind, and the old file after it was
    /// ``Previous/discarded``.
    public func eraseLeftovers(in folder: borrowing Folder, besides own: borrowing Folder)
        throws(PrivateFileError)
    {
        try removeLeftovers(in: own, besides: folder)
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
