import Foundation
import TestSupport
import Testing

@Suite("Decryption in a confined process")
struct ConfinementTests {
    @Test("every algorithm works without forbidden system calls")
    func everything() throws {
        let process = Process()
        process.executableURL = URL(filePath: BuiltProgram.path("ConfinedDecryption"))
        let output = Pipe()
        process.standardOutput = output
        try process.start()
        let written = try #require(try output.fileHandleForReading.readToEnd())
        process.waitUntilExit()
        #expect(process.terminationReason == .exit)
        #expect(process.terminationStatus == 0)
        let steps = String(decoding: written, as: UTF8.self).split(separator: "\n")
        #expect(
            steps == [
                "hashed", "scrypt", "argon2", "aes", "unwrapped nothing", "streams",
                "decompressed 5",
            ])
    }
}
