internal import Glibc

// What a killed writer left, and how it is told from somebody else's file of the same name.
extension FileReplacement {
    /// Takes away what a killed writer left; anything else of that name is left as it is.
    func removeLeftovers(in folder: borrowing Folder) throws(FileReplacementError) {
        for leftover in [aside, previousAside] {
            guard let facts = try facts(of: leftover, in: folder) else { continue }
            guard try isLeftover(leftover, facts, in: folder) else {
                throw .inTheWay(name: leftover)
            }
            try system { () throws(SystemCallFailure) in try erase(leftover, in: folder) }
        }
    }

    /// Refuses to go on where something else than a generation of this file has the name.
    func expectOwnOrNothing(_ name: String, in folder: borrowing Folder)
        throws(FileReplacementError)
    {
        guard let facts = try facts(of: name, in: folder) else { return }
        guard FileKind(facts) == .file, try beginsAsOurs(name, in: folder) else {
            throw .inTheWay(name: name)
        }
    }

    /// Overwrites what the file held, but for its beginning, and takes its name away.
    ///
    /// A file with a second name is somebody's current one: only this name goes.
    func erase(_ name: String, in folder: borrowing Folder) throws(SystemCallFailure) {
        if let facts = try folder.facts(of: name), facts.st_nlink == 1,
            facts.st_size > beginning.count
        {
            let file = try folder.open(name, O_WRONLY)
            // The beginning stays, so that a half erased file is known for what it is.
            try file.seek(to: beginning.count)
            let rest = Int(facts.st_size) - beginning.count
            try file.writeAll([UInt8](repeating: 0, count: rest).span)
            try file.synchronize()
        }
        try folder.remove(name)
    }

    // A writer leaves a file of its own that nobody else may read, with no other name than those that
    // it gives, and cut off anywhere.
    private func isLeftover(_ leftover: String, _ facts: stat, in folder: borrowing Folder)
        throws(FileReplacementError) -> Bool
    {
        guard FileKind(facts) == .file, facts.st_uid == geteuid(),
            facts.st_mode & 0o7777 & ~0o600 == 0
        else { return false }
        if facts.st_nlink > 1 {
            let others = [
                try self.facts(of: name, in: folder), try self.facts(of: previous, in: folder),
            ]
            guard
                others.contains(where: { $0?.st_dev == facts.st_dev && $0?.st_ino == facts.st_ino })
            else { return false }
        }
        if facts.st_size == 0 { return true }
        return try beginsAsOurs(leftover, in: folder)
    }

    /// Whether the file begins with what ours begin with, or with as much of it as it holds.
    private func beginsAsOurs(_ name: String, in folder: borrowing Folder)
        throws(FileReplacementError) -> Bool
    {
        do throws(SystemCallFailure) {
            let file = try folder.open(name, O_RDONLY)
            let start = try [UInt8](capacity: beginning.count) { output throws(SystemCallFailure) in
                try file.readToEnd(into: &output)
            }
            return beginning.starts(with: start)
        } catch  where error.meansForbidden {
            return false
        } catch {
            throw .system(error)
        }
    }

    private func facts(of name: String, in folder: borrowing Folder)
        throws(FileReplacementError) -> stat?
    {
        do { return try folder.facts(of: name) } catch { throw .system(error) }
    }
}

extension FileDescriptor {
    /// Goes to the byte at `offset`, where the next one is written.
    func seek(to offset: Int) throws(SystemCallFailure) {
        guard lseek(number, off_t(offset), SEEK_SET) >= 0 else {
            throw SystemCallFailure(call: "lseek", number: errno)
        }
    }
}
