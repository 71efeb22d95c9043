import POSIX

/// The files that paths stand for: files themselves, and folders to their depth.
struct PathWalk {
    /// Something on the way.
    enum Found: Hashable, Sendable {
        case file(String)
        case refused(String, InputFileError)
        /// A symbolic link in a folder; it may lead anywhere, and is not followed.
        case symbolicLink(String)
    }

    /// No tree of pictures is deeper; a deeper one was made to be walked for ever.
    private static let depthLimit = 64

    /// Standard input as a path, be it a file or a pipe.
    static let standardInput = "/dev/stdin"

    private(set) var found: [Found] = []

    /// Walks `paths` in the order in which they were given, and folders in the order of names.
    ///
    /// A path that was named is followed wherever it leads; in folders, hidden files are passed over.
    init(_ paths: [String]) {
        for path in paths { visit(path, depth: 0) }
    }

    private mutating func visit(_ path: String, depth: Int) {
        do {
            switch try FileKind(at: path, following: depth == 0) {
            case .file: found.append(.file(path))
            case .symbolicLink: found.append(.symbolicLink(path))
            case .other where path == PathWalk.standardInput: found.append(.file(path))
            case .other: found.append(.refused(path, .notAFile))
            case .folder:
                guard depth < PathWalk.depthLimit else {
                    found.append(.refused(path, .tooDeep))
                    return
                }
                let start = path.hasSuffix("/") ? path : path + "/"
                for name in try Folder.names(at: path) where !name.hasPrefix(".") {
                    visit(start + name, depth: depth + 1)
                }
            }
        } catch {
            // A name that a folder has just told is there, unless it was not told as it is.
            let isAltered = error.meansMissing && path.unicodeScalars.contains("\u{FFFD}")
            found.append(.refused(path, isAltered ? .nameNotUTF8 : InputFileError(error)))
        }
    }
}
