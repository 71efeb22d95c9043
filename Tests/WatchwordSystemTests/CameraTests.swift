import Foundation
import TestSupport
import Testing

@testable import WatchwordSystem

/// There is no camera here; these tests cover what happens without one.
@Suite struct CameraTests {
    @Test("without device files, there is no camera")
    func none() throws {
        let folder = try TemporaryFolder()
        #expect(throws: CameraFailure.none) { try Camera(in: folder.path) }
    }

    @Test("files that are not cameras are skipped")
    func otherFiles() throws {
        let folder = try TemporaryFolder()
        try folder.write([1, 2, 3], to: "video0")
        try FileManager.default.createSymbolicLink(
            atPath: folder.file("video1"), withDestinationPath: "/dev/null")
        #expect(throws: CameraFailure.none) { try Camera(in: folder.path) }
    }

    @Test(
        "the error names a camera that the user may not open",
        .enabled(if: geteuid() != 0, "root may open every file"))
    func forbidden() throws {
        let folder = try TemporaryFolder()
        let path = try folder.write([], to: "video3")
        try FileManager.default.setAttributes([.posixPermissions: 0], ofItemAtPath: path)
        #expect(throws: CameraFailure.forbidden(path)) { try Camera(in: folder.path) }
    }
}
