internal import Foundation

/// A folder for one test (mode 0700), removed with its contents when the last reference goes away.
public final class TemporaryFolder: Sendable {
    /// The path, without a trailing slash.
    public let path: String

    /// Makes a new, empty folder.
    public init() throws {
        let name = "watchword-test-\(UUID().uuidString)"
        path = FileManager.default.temporaryDirectory.appendingPathComponent(name).path
        try FileManager.default.createDirectory(
            atPath: path, withIntermediateDirectories: false,
            attributes: [.posixPermissions: 0o700])
    }

    /// The path of `name` inside the folder.
    public func file(_ name: String) -> String { "\(path)/\(name)" }

    /// Writes a file into the folder and returns its path.
    @discardableResult
    public func write(_ bytes: [UInt8], to name: String) throws -> String {
        try Data(bytes).write(to: URL(fileURLWithPath: file(name)))
        return file(name)
    }

    /// The contents of one of the folder's files.
    public func bytes(of name: String) throws -> [UInt8] {
        [UInt8](try Data(contentsOf: URL(fileURLWithPath: file(name))))
    }

    // A program that the test itself has open for writing cannot be started, and a process that
    // another test starts at the same moment inherits the descriptor. Another process therefore
    // writes it.

    /// Writes an executable script into the folder and returns its path.
    @discardableResult
    public func addProgram(_ script: String, as name: String) throws -> String {
        try add(name, by: "cat", Array(script.utf8))
    }

    /// Copies a program into the folder and returns its path.
    @discardableResult
    public func addProgram(copying path: String, as name: String) throws -> String {
        try add(name, by: "cat '\(path)'", [])
    }

    private func add(_ name: String, by command: String, _ input: [UInt8]) throws -> String {
        let path = file(name)
        let outcome = try ForeignProgram(path: "/bin/sh").run(
            ["-c", "\(command) >'\(path)' && chmod 755 '\(path)'"], input: input)
        guard outcome.status == 0 else { throw CocoaError(.fileWriteUnknown) }
        return path
    }

    deinit {
        do {
            try FileManager.default.removeItem(atPath: path)
        } catch {
            print("left behind: \(path)")
        }
    }
}
