import Foundation
import TestSupport
import Testing

@testable import WatchwordSystem

/// There is no camera here; these tests cover what happens without one.
@Suite struct CameraTests {
    private func failure(in folder: TemporaryFolder) -> CameraFailure? {
        guard case .failed(let failure) = Camera.openFirst(in: folder.path) else { return nil }
        return failure
    }

    @Test("without device files, there is no camera")
    func none() throws {
        let folder = try TemporaryFolder()
        #expect(failure(in: folder) == CameraFailure.none)
    }

    @Test("files that are not cameras are skipped")
    func otherFiles() throws {
        let folder = try TemporaryFolder()
        try folder.write([1, 2, 3], to: "video0")
        try FileManager.default.createSymbolicLink(
            atPath: folder.file("video1"), withDestinationPath: "/dev/null")
        #expect(failure(in: folder) == CameraFailure.none)
    }

    @Test(
        "the error names a camera that the user may not open",
        .enabled(if: geteuid() != 0, "root may open every file"))
    func forbidden() throws {
        let folder = try TemporaryFolder()
        let path = try folder.write([], to: "video3")
        try FileManager.default.setAttributes([.posixPermissions: 0], ofItemAtPath: path)
        #expect(failure(in: folder) == .forbidden(path))
    }
}
