import Courier
import Devices
import SecretVault
import TestSupport
import Testing
import WatchwordCryptography
import WatchwordSystem

@testable import DeviceLogin

/// The messages between `watchword` and its agent about enrolled secrets.
struct LoginTransferTests {
    private func order(authorities: [UInt8] = [1, 2], deviceName: String = "phone") throws
        -> Enrolment
    {
        Enrolment(
            SecretBytes(text: "wwt_1"),
            at: TrustedServer(
                try #require(ServerAddress("https://a.example:8443/x")), authorities: authorities),
            deviceName: deviceName, name: EntryName(typed: "a:b"),
            access: AccessControlChange(
                presence: .perUse(.pam), onFailure: nil, reuse: ReuseTime(60)))
    }

    @Test(
        "every request decodes unchanged, and requests larger than the program sends are refused")
    func tasks() throws {
        let id = try RecordID(parsing: [UInt8](1...16).span)
        var bound = try order()
        bound.binding = BindingChoice(.file, deviceName: "Mill", tpm: .standard)
        let tasks: [LoginRequest] = [
            .signIn(id), .status(id), .wipe(id), .enrol(try order()), .enrol(bound),
            .key(.server(id)),
        ]
        try MessageForm.check(tasks, of: LoginRequest.Kind.allCases)
        let most = Enrolment.largestAuthorities
        let name = String(repeating: "x", count: Enrolment.longestDeviceName)
        let largest = try order(authorities: [UInt8](repeating: 7, count: most), deviceName: name)
        try MessageForm.check(largest)
        for order in [
            try order(authorities: [UInt8](repeating: 7, count: most + 1)),
            try order(deviceName: name + "x"),
        ] {
            let read: Enrolment? = MessageForm.read(try MessageForm.bytes(of: order))
            #expect(read == nil)
        }
    }

    @Test("every request for a device key decodes unchanged")
    func keyTasks() throws {
        let id = try RecordID(parsing: [UInt8](1...16).span)
        let server = try #require(ServerAddress("https://a.example:8443/x"))
        let tpm = try #require(TPMAddress("swtpm:host=127.0.0.1,port=2321"))
        let order = SigningOrder(for: server, in: tpm)
        let file = "wwx_SIeaR8idBVnfcBJc64GIjtadkHmDZ_g8E8kCAsGel5w\n1800000000000\nPay 120.00 EUR"
        let text = try #require(KeyConfirmation(parsing: file))
        let places: [KeyOrder.Place] = [
            .vault, .tpmOrVault(tpm), .tpm(tpm, .none, attests: true),
            .tpm(tpm, .wanted, attests: false),
            .tpm(tpm, .chosen(SecretBytes(text: "2580")), attests: true),
        ]
        let orders = try places.map { KeyOrder(try self.order(), in: $0) }
        let tasks: [KeyRequest] = [
            .server(id), .signIn(id, order), .confirm(id, text, order), .status(id),
        ]
        try MessageForm.check(tasks + orders.map(KeyRequest.enrol), of: KeyRequest.Kind.allCases)
        // No TPM accepts such a PIN.
        for count in [0, 33] {
            let pin = SecretBytes(text: String(repeating: "1", count: count))
            let place = KeyOrder.Place.tpm(tpm, .chosen(pin), attests: false)
            let order = KeyOrder(try self.order(), in: place)
            let read: KeyOrder? = MessageForm.read(try MessageForm.bytes(of: order))
            #expect(read == nil)
        }
    }

    @Test("a text to confirm and a TPM's address are accepted only in the program's own form")
    func keyTaskLimits() throws {
        let challenge = "wwx_SIeaR8idBVnfcBJc64GIjtadkHmDZ_g8E8kCAsGel5w"
        let rest = KeyConfirmation.largestFile - "\(challenge)\n1\n".utf8.count
        let longest = String(repeating: "x", count: rest)
        for (file, isRead) in [
            ("\(challenge)\n1\nPay\n", true), ("\(challenge)\n1\nPay\n\n", true),
            ("\(challenge)\n1\n\(longest)\n", true), ("\(challenge)\n1\n\(longest)x\n", false),
            // A number with a leading zero, and a missing line feed.
            ("\(challenge)\n01\nPay\n", false), ("\(challenge)\n1\nPay", false),
            ("\(challenge)\n1\n\(String(repeating: "x\n", count: 21))", false),
            ("wwt_1\n1\nPay\n", false), ("", false),
        ] {
            let text: KeyConfirmation? = MessageForm.read(try MessageForm.bytes(of: file))
            #expect((text != nil) == isRead)
            if let text { try MessageForm.check(text) }
        }
        for address in ["device:tpm", "libevil.so", "device:/a b", ""] {
            let read: TPMAddress? = MessageForm.read(try MessageForm.bytes(of: address))
            #expect(read == nil)
        }
    }

    @Test("every response and every error decodes unchanged")
    func answers() throws {
        let call = SystemCallFailure(call: "open", number: 13)
        let server = try #require(ServerAddress("http://127.0.0.1:80"))
        let credential = try #require(Token("cr_1"))
        let secret = EnrolledSecret(
            server: TrustedServer(server), credential: credential,
            handed: .init(secret: SecretBytes(text: "wws_1"), generation: 3), now: 5)
        let device = try Device()
        let vault = try device.unlock()
        let endings: [ChildProcess.Ending] = [
            .exited(1), .crashed(signal: 11), .forbiddenCall, .processorTimeSpent, .killed,
            .unknown,
        ]
        let helpers: [HelperFailure] =
            [.notFound, .cannotStart(call), .notConfined(call), .otherVersion, .system(call)]
            + endings.map(HelperFailure.died)
        var failures: [HTTPHelperFailure] = [
            .library(code: -7), .unknownHost, .notLoopback, .unreachable(call), .timedOut,
            .connectionLost, .handshake, .authorities, .badResponse, .tooLarge,
        ]
        failures += helpers.map(HTTPHelperFailure.helper)
        failures += HTTPHelperFailure.CertificateFault.allCases.map(HTTPHelperFailure.certificate)
        var errors: [DeviceLoginError] = [
            .vault(.busy), .alreadyEnrolled(as: "Mill:alice"),
            .problem(
                .init(status: 429, type: PlainText(showing: "urn:x"), retryAfter: 7), at: server),
            .helper(.timedOut, at: nil),
            .cryptography(CryptographyFailure(call: .scrypt, code: 7)),
        ]
        errors += failures.map { .helper($0, at: server) }
        let refusals: [TokenFailure] = [
            .noDevice, .noPermission, .busy, .otherDevice, .wrongPIN(left: 3), .wrongPIN(left: nil),
            .noPIN, .failed(call: "Esys_Sign", code: 0x1df), .notConfined(call), .badDeviceResponse,
            .badRequest, .lockedOut(seconds: 60), .lockedOut(seconds: nil), .ownerPassword,
            .noCertificate,
        ]
        let tokens: [TokenFailure] =
            [.timedOut, .badHelperResponse] + helpers.map(TokenFailure.helper)
            + refusals
        errors += tokens.map(DeviceLoginError.token)
        errors += Tombstone.Reason.allCases.map(DeviceLoginError.wiped)
        try MessageForm.check(errors, of: DeviceLoginError.Kind.allCases)
        var answers: [LoginResponse] = [
            .ticket(
                LoginTicket(
                    text: SecretBytes(text: "wwl_1"), expiresAt: "2026", verification: "vf_1")),
            .enrolled(credential: credential, server: server, bound: nil),
            .enrolled(credential: credential, server: server, bound: .tpm), .server(server),
            .state(try LoginState(of: secret, in: vault)), .failed(.denied),
        ]
        for custody in KeyState.Custody.allCases {
            for credential in [credential, nil] {
                let frame = try FrameWriter()
                frame.append(server, credential, -5 as Int64, custody, custody == .tpm)
                let state = try frame.withContent { try KeyState(parsing: $0) }
                answers += [.key(state), .adopted(state)]
            }
        }
        try MessageForm.check(answers, of: LoginResponse.Kind.allCases)
    }
}
