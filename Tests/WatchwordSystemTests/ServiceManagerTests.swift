import Foundation
import TestSupport
import Testing
import WatchwordSystem

struct ServiceManagerTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    @Test("a credential is read if it belongs to this user and others cannot access it")
    func credentials() throws {
        let path = try folder.write([1, 2, 3], to: "keys")
        for (mode, isAccepted) in [(0o400, true), (0o440, true), (0o460, false), (0o444, false)] {
            try setMode(mode, of: path)
            var read: [UInt8]?
            do throws(FileError) {
                read = try ServiceManager.readCredential(at: path, limit: 3)
            } catch {
                #expect(error == .openToOthers(mode: UInt32(mode)))
            }
            #expect(read == (isAccepted ? [1, 2, 3] : nil), "\(String(mode, radix: 8))")
        }
        try setMode(0o400, of: path)
        #expect(throws: FileError.tooLarge(limit: 2)) {
            try ServiceManager.readCredential(at: path, limit: 2)
        }
        #expect(throws: FileError.missing) {
            try ServiceManager.readCredential(at: folder.file("none"), limit: 3)
        }
        #expect(throws: FileError.notAFile) {
            try ServiceManager.readCredential(at: folder.path, limit: 3)
        }
    }
}
