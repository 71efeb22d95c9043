internal import Glibc

// Replacing a file only if it has not changed since it was read, because other programs may ignore
// the lock.
extension FileReplacement {
    /// Gives the new file the name of the old one, which must still hold `old`.
    ///
    /// The two files are exchanged in one step, and then the old one is compared with `old`. If
    /// another program replaced it before that step, its file is put back.
    ///
    /// Where the file system cannot exchange files, the old file is compared just before it is
    /// replaced.
    ///
    /// - Throws: ``FileError/changed`` if the file holds anything else; the file is then
    ///   kept.
    func exchange(
        in folder: borrowing Folder, besides own: borrowing Folder, expecting old: [UInt8]
    ) throws(FileError) {
        do throws(SystemCallFailure) {
            // The new file keeps its other name, so that a later writer recognises it.
            try own.link(aside, to: displaced, in: own)
            try own.exchange(displaced, with: name, in: folder)
        } catch {
            guard !error.isMissingFile else { throw .changed }
            guard error.isLinkUnsupported || error.isExchangeUnsupported else {
                throw .system(error)
            }
            guard try holds(old, at: name, in: folder) else { throw .changed }
            try FileError.system(in: own.remove(displaced))
            return try FileError.system(in: own.rename(aside, to: name, in: folder))
        }
        let failure: FileError
        do throws(FileError) {
            guard try !holds(old, at: displaced, in: own) else { return }
            failure = .changed
        } catch {
            // A file that cannot be read is also put back.
            failure = error
        }
        try FileError.system(in: own.exchange(displaced, with: name, in: folder))
        throw failure
    }

    /// Completes or undoes an exchange that a killed writer began.
    ///
    /// A displaced file that is neither the new one nor a kept one belongs to another program. It
    /// is put back if the new file still has the name of the replaced file.
    ///
    /// - Throws: ``FileError/inTheWay(name:)`` if a third file has that name.
    func endExchange(in own: borrowing Folder, besides folder: borrowing Folder)
        throws(FileError)
    {
        guard try FileError.system(in: own.holds(displaced)) else { return }
        var isKnown = false
        for known in [aside, previous, newPreviousName] where !isKnown {
            isKnown = try FileError.system(in: isSameFile(known, in: own, displaced, in: own))
        }
        if !isKnown {
            guard try FileError.system(in: isSameFile(aside, in: own, name, in: folder)) else {
                throw .inTheWay(name: displaced)
            }
            try FileError.system(in: own.exchange(displaced, with: name, in: folder))
            guard try FileError.system(in: isSameFile(aside, in: own, displaced, in: own)) else {
                throw .inTheWay(name: displaced)
            }
        }
        try FileError.system(in: own.remove(displaced))
    }

    /// Removes the new file, which was not put in place; the next writer removes what is left.
    func discardNew(in own: borrowing Folder) {
        do throws(SystemCallFailure) {
            // If a displaced file could not be put back, leave both files: the next writer needs
            // the new file to recognise the displaced one.
            if try own.holds(displaced) {
                guard try isSameFile(aside, in: own, displaced, in: own) else { return }
            }
            discardNames(in: own)
        } catch _ {}
    }

    /// Removes the names that an exchange needed; the next writer removes what is left.
    func discardNames(in own: borrowing Folder) {
        do throws(SystemCallFailure) {
            // In this order: without the new file, a displaced file could not be recognised.
            try own.remove(displaced)
            try own.remove(aside)
        } catch _ {}
    }

    /// Whether the regular file `name` holds these bytes and no more.
    func holds(_ bytes: [UInt8], at name: String, in folder: borrowing Folder)
        throws(FileError) -> Bool
    {
        do throws(SystemCallFailure) {
            guard let facts = try folder.facts(of: name), FileKind(facts) == .file,
                Int(facts.st_size) == bytes.count
            else { return false }
            return try folder.open(name, O_RDONLY).bytes(atMost: bytes.count + 1) == bytes
        } catch  where error.isMissingFile || error.isNotRegularFile || error.isPermissionDenied {
            return false
        } catch {
            throw .system(error)
        }
    }

    /// Whether both names exist and refer to the same file.
    func isSameFile(
        _ name: String, in folder: borrowing Folder, _ second: String, in other: borrowing Folder
    ) throws(SystemCallFailure) -> Bool {
        guard let first = try folder.facts(of: name), let second = try other.facts(of: second)
        else { return false }
        return first.isSameFile(as: second)
    }
}
