import Courier
import Foundation
import SecretVault
import TestSupport
import Testing
import WatchwordCryptography

@testable import DeviceLogin

/// If an older vault is restored, its secret must not reach the server, which would treat the
/// secret as stolen.
@Suite struct StaleSecretTests {
    private static let record = ".watchword/enrolled"

    /// Replaces the vault with an older one.
    private func restore(_ bytes: [UInt8], on device: Device) throws {
        try device.folder.write(bytes, to: "vault")
        try setMode(0o600, of: device.path)
    }

    @Test("a secret from a backup is not presented; the newer vault still signs in")
    func backup() throws {
        let device = try Device()
        var server = TestServer()
        try device.enrol(&server)
        // Before the first login, after each of two logins, and now.
        var backups = [try device.folder.bytes(of: "vault")]
        for _ in 0..<3 {
            _ = try device.signIn(&server)
            backups.append(try device.folder.bytes(of: "vault"))
        }
        let newest = backups.removeLast()
        let sent = server.arrived.count
        for backup in backups {
            try restore(backup, on: device)
            #expect(try device.state().isStale(in: device.unlock()))
            #expect(throws: DeviceLoginError.stale) { try device.signIn(&server) }
        }
        #expect(server.arrived.count == sent && server.row.wiped == nil)
        try restore(newest, on: device)
        #expect(try device.signIn(&server) == "wwl_4")
        #expect(server.row.wiped == nil)
    }

    @Test("a backup from before a lost response is stale; the vault that sent the request is not")
    func unanswered() throws {
        let device = try Device()
        var server = TestServer()
        try device.enrol(&server)
        _ = try device.signIn(&server)
        let backup = try device.folder.bytes(of: "vault")
        server.faults = [.answerLost, .answerLost]
        #expect(throws: Device.lostConnection) { try device.signIn(&server) }
        let unanswered = try device.folder.bytes(of: "vault")
        // The backup has the same secret, but would present it with a different nonce.
        try restore(backup, on: device)
        #expect(throws: DeviceLoginError.stale) { try device.signIn(&server) }
        try restore(unanswered, on: device)
        #expect(try device.signIn(&server) == "wwl_3")
        #expect(server.row.wiped == nil)
    }

    @Test("a copy of the previous generation under a different name is stale, too")
    func otherName() throws {
        let device = try Device()
        var server = TestServer()
        try device.enrol(&server)
        let old = try device.folder.bytes(of: "vault")
        _ = try device.signIn(&server)
        let path = device.folder.file("copy")
        try device.folder.write(old, to: "copy")
        try setMode(0o600, of: path)
        let copy = try Vault.unlock(at: path, with: .passphrase(Device.passphrase))
        #expect(throws: DeviceLoginError.stale) { try device.signIn(&server, vault: copy) }
        #expect(server.arrived.count == 1)
    }

    @Test("after a new enrolment with a different ticket, a stale entry signs in")
    func enrolledAgain() throws {
        let device = try Device()
        var server = TestServer()
        try device.enrol(&server)
        let old = try device.folder.bytes(of: "vault")
        for _ in 0..<2 { _ = try device.signIn(&server) }
        try restore(old, on: device)
        #expect(throws: DeviceLoginError.stale) { try device.signIn(&server) }
        // The server sends the first secret again.
        #expect(throws: DeviceLoginError.alreadyEnrolled(as: "Mill:alice")) {
            try device.enrol(&server)
        }
        server.credential = "cr_second"
        // The owner gives up the newer state, which only the previous generation has.
        try FileManager.default.removeItem(
            atPath: device.folder.file(".watchword/by-name/vault/previous"))
        try device.enrol(&server, ticket: SecretBytes(text: "wwt_second"))
        _ = try device.signIn(&server)
        _ = try device.signIn(&server)
        #expect(server.row.wiped == nil)
    }

    @Test("a device whose record is missing can still sign in")
    func lostRecord() throws {
        let device = try Device()
        var server = TestServer()
        try device.enrol(&server)
        _ = try device.signIn(&server)
        try FileManager.default.removeItem(atPath: device.folder.file(Self.record))
        #expect(try device.signIn(&server) == "wwl_2")
        #expect(try names(in: device.folder.file(".watchword")).contains("enrolled"))
    }

    @Test("nothing is sent if the secret cannot be recorded first")
    func notRecorded() throws {
        let device = try Device()
        var server = TestServer()
        try device.enrol(&server)
        let file = device.folder.file(Self.record)
        try device.folder.write(Array("notes".utf8), to: Self.record)
        try setMode(0o600, of: file)
        #expect(throws: DeviceLoginError.vault(.inTheWay(name: Self.record))) {
            try device.signIn(&server)
        }
        #expect(server.arrived.isEmpty)
        try FileManager.default.removeItem(atPath: file)
        #expect(try device.signIn(&server) == "wwl_1")
    }

    @Test("the record names neither the server nor the credential, and contains no secret")
    func record() throws {
        let device = try Device()
        var server = TestServer()
        let state = try device.enrol(&server)
        _ = try device.signIn(&server)
        let text = String(decoding: try device.folder.bytes(of: Self.record), as: UTF8.self)
        for word in ["login.example", state.credential.text, "wws_"] {
            #expect(!text.contains(word))
        }
        #expect(text.split(separator: "\n").count == 3)
    }
}
