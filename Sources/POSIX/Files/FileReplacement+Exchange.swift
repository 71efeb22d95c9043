internal import Glibc

// Replacing a file only as long as it holds what was read, though other programs heed no lock.
extension FileReplacement {
    /// Gives the new file the name of the old one, which must still hold `old`.
    ///
    /// The two files change places in one step, and only then is the old one looked at: whatever
    /// another program puts in its place before that step is in hand afterwards, and is put back.
    ///
    /// Where the file system can't do this, the old file is looked at just before it is replaced.
    ///
    /// - Throws: ``FileReplacementError/changed`` when the file holds anything else; then it is in its place.
    func exchange(
        in folder: borrowing Folder, besides own: borrowing Folder, expecting old: [UInt8]
    ) throws(FileReplacementError) {
        do throws(SystemCallFailure) {
            // The new file keeps its other name, so that it is known should this program be killed.
            try own.link(aside, to: displaced, in: own)
            try own.exchange(displaced, with: name, in: folder)
        } catch {
            guard !error.isMissingFile else { throw .changed }
            guard error.meansNoLinks || error.meansNoExchange else { throw .system(error) }
            guard try holds(old, at: name, in: folder) else { throw .changed }
            return try system { () throws(SystemCallFailure) in
                try own.remove(displaced)
                try own.rename(aside, to: name, in: folder)
            }
        }
        let failure: FileReplacementError
        do throws(FileReplacementError) {
            guard try !holds(old, at: displaced, in: own) else { return }
            failure = .changed
        } catch {
            // What can't be looked at gets its place back, too.
            failure = error
        }
        try system { () throws(SystemCallFailure) in
            try own.exchange(displaced, with: name, in: folder)
        }
        throw failure
    }

    /// Ends an exchange that a killed writer began.
    ///
    /// A displaced file that is neither the new one nor one that is kept is another program's, which this
    /// program may not have looked at: it is put back where the new one is still in its place.
    ///
    /// - Throws: ``FileReplacementError/inTheWay(name:)`` where yet another file is there.
    func endExchange(in own: borrowing Folder, besides folder: borrowing Folder)
        throws(FileReplacementError)
    {
        guard try holdsAnything(displaced, in: own) else { return }
        var isKnown = false
        for known in [aside, previous, newPreviousName] where !isKnown {
            isKnown = try areOneFile(known, in: own, displaced, in: own)
        }
        if !isKnown {
            guard try areOneFile(aside, in: own, name, in: folder) else {
                throw .inTheWay(name: displaced)
            }
            try system { () throws(SystemCallFailure) in
                try own.exchange(displaced, with: name, in: folder)
            }
            guard try areOneFile(aside, in: own, displaced, in: own) else {
                throw .inTheWay(name: displaced)
            }
        }
        try system { () throws(SystemCallFailure) in try own.remove(displaced) }
    }

    /// Removes the new file, which did not get its name; what stays is removed by the next writer.
    func discardNew(in own: borrowing Folder) {
        do throws(FileReplacementError) {
            // A displaced file that could not be put back is left to the next writer, with what tells
            // that it was displaced.
            if try holdsAnything(displaced, in: own) {
                guard try areOneFile(aside, in: own, displaced, in: own) else { return }
            }
            discardNames(in: own)
        } catch _ {}
    }

    /// Removes the names that an exchange needed; what stays is removed by the next writer.
    func discardNames(in own: borrowing Folder) {
        do throws(SystemCallFailure) {
            // In this order: a displaced file without the new one beside it would be nobody's.
            try own.remove(displaced)
            try own.remove(aside)
        } catch _ {}
    }

    /// Whether the regular file `name` holds these bytes and no more.
    func holds(_ bytes: [UInt8], at name: String, in folder: borrowing Folder)
        throws(FileReplacementError) -> Bool
    {
        do throws(SystemCallFailure) {
            guard let facts = try folder.facts(of: name), FileKind(facts) == .file,
                Int(facts.st_size) == bytes.count
            else { return false }
            let file = try folder.open(name, O_RDONLY)
            let held = try [UInt8](capacity: bytes.count + 1) { output throws(SystemCallFailure) in
                try file.readToEnd(into: &output)
            }
            return held == bytes
        } catch  where error.isMissingFile || error.meansNotAFile || error.meansForbidden {
            return false
        } catch {
            throw .system(error)
        }
    }

    private func holdsAnything(_ name: String, in folder: borrowing Folder)
        throws(FileReplacementError) -> Bool
    {
        do { return try folder.holds(name) } catch { throw .system(error) }
    }

    /// Whether both names are there and are names of one file.
    func areOneFile(
        _ name: String, in folder: borrowing Folder, _ second: String, in other: borrowing Folder
    ) throws(FileReplacementError) -> Bool {
        do throws(SystemCallFailure) {
            guard let first = try folder.facts(of: name), let second = try other.facts(of: second)
            else { return false }
            return first.st_dev == second.st_dev && first.st_ino == second.st_ino
        } catch {
            throw .system(error)
        }
    }
}
