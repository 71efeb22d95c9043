internal import Foundation

/// Gives the file at `path` these permission bits.
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

/// Takes the file or folder at `path` away.
public func removeFile(_ path: String) throws {
    try FileManager.default.removeItem(atPath: path)
}

/// Makes a folder at `path`.
public func makeFolder(_ path: String) throws {
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
}

/// Gives the file at `path` the second name `second`.
public func linkFile(_ path: String, to second: String) throws {
    try FileManager.default.linkItem(atPath: path, toPath: second)
}

/// Makes a symbolic link at `link` that points at `path`.
public func linkSymbolically(_ path: String, to link: String) throws {
    try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: path)
}
