import Devices
import Foundation
import ServiceTranscripts
import TestSupport
import Testing
import WatchwordCryptography

/// The kinds of endorsement keys whose makers the tests can play.
enum EndorsementKind: CaseIterable, Sendable {
    case rsa, p256

    static let installed = allCases.filter { $0 == .rsa || TPMTools.areInstalled }

    /// Two TPMs, and the file with the certificate of the first TPM's maker.
    ///
    /// On P-256, both have the same maker, and the file is in `folder`.
    func twoTPMs(
        _ folder: TemporaryFolder
    ) throws -> (EmulatedTPM, EmulatedTPM, roots: String) {
        switch self {
        case .rsa:
            let tpm = try EmulatedTPM(hasCertificate: true)
            return (tpm, try EmulatedTPM(hasCertificate: true), tpm.makersCertificate)
        case .p256:
            let maker = try TPMMaker()
            let tpms = (try EmulatedTPM(), try EmulatedTPM())
            try tpms.0.store(maker.certificate(for: tpms.0), at: TPMMaker.p256Index)
            try tpms.1.store(maker.certificate(for: tpms.1), at: TPMMaker.p256Index)
            return (tpms.0, tpms.1, try maker.writeRoot(to: folder))
        }
    }
}

/// Device keys in TPMs that the server checks.
@Suite(
    .serialized,
    .enabled(if: EmulatedTPM.canHaveCertificate, "swtpm or swtpm-tools is not installed"))
struct KeyAttestationTests {
    @Test("key enrol --attest proves that the key is in a TPM of a trusted maker")
    func command() async throws {
        let harness = try await LoginHarness()
        let tpm = try EmulatedTPM(hasCertificate: true)
        let server = try await harness.keyServer(["--tpm-roots", tpm.makersCertificate])
        let address = ["--tpm", tpm.address]
        try harness.folder.write(Array("2580\n".utf8), to: "pin")
        let pin = ["--pin-file", harness.folder.file("pin")]
        for more in [[], ["--pin"] + pin] {
            try await harness.ticket(#"{"type":"key"}"#)
            let enrolled = try await harness.run(
                harness.keyEnrolment + ["--attest"] + more + address)
            #expect(enrolled.status == 0, "\(enrolled.words)")
            #expect(enrolled.words.contains("in the TPM (verified by the server)"))
            let status = try await harness.run("--json", "key", "status", "mill").text
            #expect(status.contains(#""custody":"tpm-attested""#), "\(status)")
            let present = try await harness.run(
                ["key", "present", "mill"] + address + (more.isEmpty ? [] : pin))
            #expect(present.status == 0, "\(present.words)")
            let redeemed = try await Asker(harness.application.port, key: harness.key).ask(
                "POST", "/v1/logins/redeem",
                #"{"login":"\#(present.text.trimmingCharacters(in: .newlines))"}"#)
            #expect(redeemed?.texts["custody"] == "tpm-attested")
        }
        // Without --attest, the same TPM is only a claim of the device.
        try await harness.ticket(#"{"type":"key"}"#)
        let claimed = try await harness.run(harness.keyEnrolment + address)
        #expect(claimed.status == 0 && claimed.words.contains("The key is in the TPM."))
        for server in [server, harness.application] { #expect(try await server.stop() == 0) }
    }

    @Test("K-78 a TPM without a certificate, and a TPM of an untrusted maker, are refused")
    func untrusted() async throws {
        let harness = try await LoginHarness()
        let (tpm, other) = (
            try EmulatedTPM(hasCertificate: true), try EmulatedTPM(hasCertificate: true)
        )
        let bare = try EmulatedTPM()
        let server = try await harness.keyServer(["--tpm-roots", other.makersCertificate])
        for (address, status, words) in [
            (bare.address, 6, "has no certificate from its maker"),
            (tpm.address, 5, "does not trust the TPM"),
        ] as [(String, Int32, String)] {
            try await harness.ticket(#"{"type":"key"}"#)
            let refused = try await harness.run(
                harness.keyEnrolment + ["--attest", "--tpm", address])
            #expect(refused.status == status, "\(refused.words)")
            #expect(refused.words.contains(words), "\(refused.words)")
        }
        #expect(try await server.stop() == 0)
        // A server without trusted makers refuses the attestation instead of ignoring it.
        let without = try await harness.keyServer()
        try await harness.ticket(#"{"type":"key"}"#)
        let refused = try await harness.run(
            harness.keyEnrolment + ["--attest", "--tpm", tpm.address])
        #expect(refused.status == 5, "\(refused.words)")
        for server in [without, harness.application] { #expect(try await server.stop() == 0) }
    }

    @Test(
        "a TPM with an endorsement key on P-256 sends the certificates of its issuers",
        .enabled(if: TPMTools.areInstalled, "needs swtpm and tpm2-tools"))
    func issuers() async throws {
        let harness = try await LoginHarness()
        let tpm = try EmulatedTPM()
        let maker = try TPMMaker(issuers: 2)
        try tpm.store(maker.certificate(for: tpm), at: TPMMaker.p256Index)
        let server = try await harness.keyServer([
            "--tpm-roots", maker.writeRoot(to: harness.folder),
        ])
        func enrol() async throws -> ForeignProgram.Outcome {
            try await harness.ticket(#"{"type":"key"}"#)
            return try await harness.run(
                harness.keyEnrolment + ["--attest", "--tpm", tpm.address])
        }
        // The server has only the root certificate.
        let alone = try await enrol()
        #expect(
            alone.status == 5 && alone.words.contains("does not trust the TPM"), "\(alone.words)")
        // One certificate continues in the second index, and other bytes follow it.
        let issuers = try maker.issuerCertificates()
        let bytes = Array(issuers.joined())
        let middle = issuers[0].count + issuers[1].count / 2
        try tpm.store(Array(bytes[..<middle]), at: TPMMaker.issuerIndex)
        try tpm.store(
            bytes[middle...] + [UInt8](repeating: 0xff, count: 50), at: TPMMaker.issuerIndex + 1)
        let enrolled = try await enrol()
        #expect(enrolled.status == 0, "\(enrolled.words)")
        #expect(enrolled.words.contains("in the TPM (verified by the server)"))
        let present = try await harness.run("key", "present", "mill", "--tpm", tpm.address)
        #expect(present.status == 0, "\(present.words)")
        for server in [server, harness.application] { #expect(try await server.stop() == 0) }
    }

    @Test(
        "K-78 a certificate of a different TPM's key, or for a different purpose, is refused",
        .enabled(if: TPMTools.areInstalled, "needs swtpm and tpm2-tools"))
    func wrongCertificate() async throws {
        let harness = try await LoginHarness()
        let maker = try TPMMaker()
        let server = try await harness.keyServer([
            "--tpm-roots", maker.writeRoot(to: harness.folder),
        ])
        let tpms = try (0..<4).map { _ in try EmulatedTPM() }
        let certificates = [
            try maker.certificate(for: tpms[3]),
            try maker.certificate(for: tpms[1], usage: "2.23.133.8.3"),
            try maker.certificate(for: tpms[2], usage: nil),
            try maker.certificate(for: tpms[3]),
        ]
        for (index, tpm) in tpms.enumerated() {
            try tpm.store(certificates[index], at: TPMMaker.p256Index)
            try await harness.ticket(#"{"type":"key"}"#)
            let outcome = try await harness.run(
                harness.keyEnrolment + ["--attest", "--tpm", tpm.address])
            #expect(outcome.status == (index == 3 ? 0 : 5), "\(index): \(outcome.words)")
        }
        for server in [server, harness.application] { #expect(try await server.stop() == 0) }
    }

    /// A device that sends its requests itself, so that tests can change the requests.
    private struct Device {
        let tpm: EmulatedTPM
        let key: TPMKey
        let point: [UInt8]
        let authorization: SecretBytes

        private struct Nobody: TokenHelper.Person {
            func pin(isRepeated: Bool, left: UInt32?) -> SecretBytes? { nil }
            func touch(number: Int, of count: Int) {}
        }

        static func carryOut(_ request: TokenRequest) async throws -> TokenResponse {
            try await onOwnThread {
                var nobody = Nobody()
                return try TokenHelper(path: BuiltProgram.path("watchword-token"))
                    .carryOut(request, with: &nobody)
            }
        }

        init(_ tpm: EmulatedTPM) async throws {
            self.tpm = tpm
            authorization = Randomness.secret(count: TPMKey.authorizationCount)
            let made = try await Self.carryOut(
                .makeKey(
                    authorization: authorization, pin: nil,
                    in: #require(TPMAddress(tpm.address))))
            guard case .madeKey(let key, let point) = made else {
                throw TokenFailure.badHelperResponse
            }
            (self.key, self.point) = (key, point)
        }

        /// The body of a registration with this ticket.
        func registration(_ ticket: String) async throws -> [String: Any] {
            let scope = try #require(
                DeviceKeyTranscript.Scope(
                    audience: SampleDeviceKey.audience, presence: .none))
            let transcript = DeviceKeyTranscript.enrolment(
                scope, ticket: SecretBytes(text: ticket), point: point
            ).bytes
            let address = try #require(TPMAddress(tpm.address))
            let signed = try await Self.carryOut(
                .sign(transcript, with: key, authorization: authorization, in: address))
            let attested = try await Self.carryOut(
                .attest(key, for: transcript, authorization: authorization, in: address))
            guard case .signature(let signature) = signed, case .attested(let statement) = attested
            else { throw TokenFailure.badHelperResponse }
            func text(_ bytes: [UInt8]) -> String { Base64URL.encode(bytes.span) }
            return [
                "ticket": ticket, "public_key": text(point), "signature": text(signature),
                "presence": "none", "custody": "tpm",
                "attestation": [
                    "certificates": statement.certificates.map(text),
                    "endorsement_key": text(statement.endorsementKey),
                    "attestation_key": text(statement.attestationKey),
                    "device_key": text(statement.deviceKey),
                    "certification": text(statement.certification),
                    "signature": text(statement.signature),
                ] as [String: Any],
            ]
        }

        /// The secret that the TPM reveals.
        func secret(_ answer: [String: Any]) async throws -> String {
            let activation = try #require(answer["activation"] as? [String: String])
            func bytes(_ name: String) throws -> [UInt8] {
                try Base64URL.decode(Array((activation[name] ?? "").utf8).span)
            }
            let wanted = try #require(
                KeyActivation(blob: bytes("blob"), seed: bytes("seed")))
            let result = try await Self.carryOut(
                .activate(wanted, in: #require(TPMAddress(tpm.address))))
            guard case .secret(let secret) = result else { throw TokenFailure.badHelperResponse }
            let bytes = secret.withBytes { [UInt8](copying: $0) }
            return Base64URL.encode(bytes.span)
        }
    }

    private func post(
        _ asker: Asker, _ target: String, _ body: [String: Any]
    ) async throws -> (status: Int, object: [String: Any]) {
        let json = String(
            decoding: try JSONSerialization.data(withJSONObject: body), as: UTF8.self)
        let answer = try #require(try await asker.ask("POST", target, json))
        let object = try JSONSerialization.jsonObject(with: Data(answer.body))
        return (answer.status, try #require(object as? [String: Any]))
    }

    @Test(
        "K-78 no changed attestation and no wrong activation is accepted over HTTP",
        arguments: TestedStore.installed, EndorsementKind.installed)
    func changed(_ store: TestedStore, kind: EndorsementKind) async throws {
        let state = try await store.state()
        let (tpm, other, roots) = try kind.twoTPMs(state.folder)
        let server = try await ServerProcess(
            state,
            arguments: [
                "--audience", SampleDeviceKey.audience, "--tpm-roots", roots,
            ])
        let application = try Asker(server.port, key: try await state.makeKey())
        let asker = try Asker(server.port)
        func ticket() async throws -> String {
            let answer = try await application.ask(
                "POST", "/v1/subjects/alice/credentials", #"{"type":"key"}"#)
            return try #require(answer?.texts["ticket"])
        }
        let device = try await Device(tpm)
        let ticketText = try await ticket()
        var good = try await device.registration(ticketText)
        good["user_agent"] = "Mill App/2"
        let evidence = try #require(good["attestation"] as? [String: Any])
        let second = try await Device(tpm).registration(try await ticket())
        let foreign = try #require(second["attestation"] as? [String: Any])
        let elsewhere = try await Device(other)
        let another = try #require(
            try await elsewhere.registration(ticketText)["attestation"] as? [String: Any])
        for (name, value) in evidence {
            // A different key of the same TPM has the same certificate, endorsement and attestation
            // keys.
            for source in [foreign, another] where "\(source[name] ?? "")" != "\(value)" {
                var changed = evidence
                changed[name] = source[name]
                var body = good
                body["attestation"] = changed
                let answer = try await post(asker, "/v1/device/keys", body)
                #expect(answer.status == 403, "\(name): \(answer)")
            }
        }
        // None of these requests spent the ticket.
        let begun = try await post(asker, "/v1/device/keys", good)
        #expect(begun.status == 201 && begun.object["state"] as? String == "pending")
        let credential = try #require(begun.object["credential"] as? String)
        let again = try await post(asker, "/v1/device/keys", good)
        #expect(again.status == 403)
        // The key does not sign in yet.
        let challenge = try await post(
            asker, "/v1/device/challenges", ["credential": credential])
        let early = try await post(
            asker, "/v1/device/signatures",
            [
                "credential": credential, "challenge": challenge.object["challenge"] ?? "",
                "audience": SampleDeviceKey.audience, "purpose": "sign-in", "presence": "none",
                "signature": good["signature"] ?? "",
            ])
        #expect(early.object["result"] as? String == "denied")
        await #expect(throws: TokenFailure.self) {
            try await elsewhere.secret(begun.object)
        }
        let secret = try await device.secret(begun.object)
        let target = "/v1/device/keys/activation"
        let wrong = String(repeating: "A", count: 43)
        for (secret, result) in [(wrong, "denied"), (secret, "accepted"), (secret, "denied")] {
            let answer = try await post(
                asker, target, ["credential": credential, "secret": secret])
            #expect(answer.status == 200 && answer.object["result"] as? String == result)
        }
        let list = try await application.ask("GET", "/v1/subjects/alice/credentials")
        let body = list?.text ?? ""
        #expect(body.components(separatedBy: #""state":"active""#).count == 2, "\(body)")
        // The user agent is that of the request with the key, not that of the activation.
        #expect(body.contains(#""user_agent":"Mill App/2""#), "\(body)")
        #expect(try await server.stop() == 0)
    }
}
