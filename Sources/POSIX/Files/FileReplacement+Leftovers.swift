internal import Glibc

// Files that a killed writer left behind, and how to distinguish them from other files with the
// same names.
extension FileReplacement {
    /// Removes what a killed writer left behind.
    ///
    /// Other files with these names are not changed.
    ///
    /// - Parameter folder: the folder of the file itself, which may share its blocks with a
    ///   leftover.
    func removeLeftovers(in own: borrowing Folder, besides folder: borrowing Folder)
        throws(PrivateFileError)
    {
        try endExchange(in: own, besides: folder)
        for leftover in [aside, newPreviousName] {
            guard let facts = try facts(of: leftover, in: own) else { continue }
            guard FileKind.isPrivateFile(facts),
                try hasNoOtherName(leftover, facts, in: own, besides: folder),
                try beginsLikeOwnFile(leftover, facts, in: own)
            else { throw .inTheWay(name: leftover) }
            try system { () throws(SystemCallFailure) in try erase(leftover, in: own) }
        }
    }

    /// Stops if the name belongs to anything other than a generation of this file.
    func expectOwnOrNothing(_ name: String, in folder: borrowing Folder)
        throws(PrivateFileError)
    {
        guard let facts = try facts(of: name, in: folder) else { return }
        guard FileKind.isPrivateFile(facts), try beginsLikeOwnFile(name, facts, in: folder) else {
            throw .inTheWay(name: name)
        }
    }

    /// Whether the working folder contains a file with the complete beginning of a generation of
    /// this file, whatever its mode is.
    public func holdsGeneration(in own: borrowing Folder) throws(PrivateFileError) -> Bool {
        for name in [previous, newPreviousName, aside, displaced] {
            guard let facts = try facts(of: name, in: own), FileKind(facts) == .file,
                facts.st_size >= beginning.count
            else { continue }
            if try beginsLikeOwnFile(name, facts, in: own, orAs: nil) { return true }
        }
        return false
    }

    /// Overwrites the file's content except its beginning, and removes its name.
    ///
    /// A file with a second name is the current one of some writer: only this name is removed.
    func erase(_ name: String, in folder: borrowing Folder) throws(SystemCallFailure) {
        if let facts = try folder.facts(of: name), facts.st_nlink == 1,
            facts.st_size > beginning.count
        {
            try overwrite(name, in: folder)
        }
        try folder.remove(name)
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

    // If a leftover has a second name, that must be the name of the current or the previous file.
    private func hasNoOtherName(
        _ leftover: String, _ facts: stat, in own: borrowing Folder,
        besides folder: borrowing Folder
    ) throws(PrivateFileError) -> Bool {
        guard facts.st_nlink > 1 else { return true }
        if try isSameFile(leftover, in: own, name, in: folder) { return true }
        return try isSameFile(leftover, in: own, previous, in: own)
    }

    /// Whether the file begins like one of ours, or is too short but begins that way so far.
    private func beginsLikeOwnFile(_ name: String, _ facts: stat, in folder: borrowing Folder)
        throws(PrivateFileError) -> Bool
    {
        try beginsLikeOwnFile(name, facts, in: folder, orAs: name == aside ? otherLeftover : nil)
    }

    private func beginsLikeOwnFile(
        _ name: String, _ facts: stat, in folder: borrowing Folder, orAs other: FileBeginning?
    ) throws(PrivateFileError) -> Bool {
        // A file that was just created may not even be readable, because its mode is set later.
        guard facts.st_size > 0 else { return true }
        let beginnings = [beginning] + (other.map { [$0] } ?? [])
        do throws(SystemCallFailure) {
            for beginning in beginnings {
                let file = try folder.open(name, O_RDONLY)
                let start = try [UInt8](capacity: beginning.count) {
                    output throws(SystemCallFailure) in
                    try file.readToEnd(into: &output)
                }
                if beginning.isBegun(by: start) { return true }
            }
            return false
        } catch  where error.isPermissionDenied {
            return false
        } catch {
            throw .system(error)
        }
    }

    private func facts(of name: String, in folder: borrowing Folder)
        throws(PrivateFileError) -> stat?
    {
        do { return try folder.facts(of: name) } catch { throw .system(error) }
    }
}
