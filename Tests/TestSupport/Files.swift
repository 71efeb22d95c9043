internal import Foundation

/// Sets the permission bits of the file at `path`.
public func setMode(_ mode: Int, of path: String) throws {
    try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
}

/// The permission bits of the file at `path`.
public func mode(of path: String) throws -> Int? {
    try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
}

/// The names in the folder at `path`, sorted.
public func names(in path: String) throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: path).sorted()
}

/// Removes the file or folder at `path`.
public func removeFile(_ path: String) throws {
    try FileManager.default.removeItem(atPath: path)
}

/// Creates the folder at `path`, whose parent must exist.
public func makeFolder(_ path: String) throws {
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
}

/// Creates a hard link at `second` to the file at `path`.
public func linkFile(_ path: String, to second: String) throws {
    try FileManager.default.linkItem(atPath: path, toPath: second)
}

/// The inode number of the file at `path`.
public func inode(of path: String) throws -> UInt64 {
    let number = try FileManager.default.attributesOfItem(atPath: path)[.systemFileNumber]
    guard let number = number as? NSNumber else { throw CocoaError(.fileReadUnknown) }
    return number.uint64Value
}

/// Creates a symbolic link at `link` that points to `path`.
public func linkSymbolically(_ path: String, to link: String) throws {
    try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: path)
}
