import WatchwordSystem

/// The files at the given paths, including those in folders, recursively.
struct PathWalk {
    /// An item found during the walk.
    enum Found: Hashable, Sendable {
        case file(String)
        /// A pipe among the given paths; it can be read once.
        case pipe(String)
        case refused(String, FileError)
        /// A symbolic link in a folder; it can point anywhere, so it is not followed.
        case symbolicLink(String)
    }

    /// The maximum depth, so that a walk always ends.
    private static let depthLimit = 64

    /// Standard input as a path; it can be a file or a pipe.
    static let standardInput = "/dev/stdin"

    /// The path that an operand means; `-` is standard input.
    static func path(of operand: String) -> String { operand == "-" ? standardInput : operand }

    private(set) var found: [Found] = []

    /// Walks `paths` in the given order, and the contents of each folder sorted by name.
    ///
    /// Symbolic links in `paths` are followed; hidden files in folders are skipped.
    init(_ paths: [String]) {
        for path in paths { visit(path, depth: 0) }
    }

    private mutating func visit(_ path: String, depth: Int) {
        do {
            switch try FileKind(at: path, following: depth == 0) {
            case .file: found.append(.file(path))
            case .symbolicLink: found.append(.symbolicLink(path))
            case .pipe where depth == 0: found.append(.pipe(path))
            case .pipe, .other: found.append(.refused(path, .notAFile))
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
            // The folder has just listed this name; if the file is now missing, the name was not
            // UTF-8.
            let isAltered = error.isMissing && path.unicodeScalars.contains("\u{FFFD}")
            found.append(.refused(path, isAltered ? .nameNotUTF8 : FileError(reading: error)))
        }
    }
}
