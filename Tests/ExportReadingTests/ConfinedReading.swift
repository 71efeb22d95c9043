import Foundation
import TestSupport

/// The result of reading an export in a confined process.
struct ConfinedReading {
    /// The program's output, without the line ending.
    let answer: String
    /// 0, the program's exit status, or the signal that killed it.
    let status: Int32
    let duration: Duration

    /// - Parameter mebibytes: The address space.
    init(_ file: [UInt8], password: String? = nil, mebibytes: Int = 1024) throws {
        let folder = try TemporaryFolder()
        let path = try folder.write(file, to: "export")
        let process = Process()
        process.executableURL = URL(filePath: BuiltProgram.path("ConfinedReading"))
        process.arguments = ["\(mebibytes)"] + (password.map { [$0] } ?? [])
        process.standardInput = try FileHandle(forReadingFrom: URL(filePath: path))
        let output = Pipe()
        process.standardOutput = output
        let start = ContinuousClock.now
        try process.start()
        let written = try output.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        duration = .now - start
        status = process.terminationStatus
        answer = String(decoding: written, as: UTF8.self).trimmingCharacters(in: .newlines)
    }
}
