internal import WatchwordCryptography

/// A maker of authenticators: a root certificate, and a certificate for attestations.
package struct TestMaker: Sendable {
    /// The file of the root certificate, in PEM.
    package let root: String
    private let certificate: [UInt8]
    private let key: OpenSSLKey

    /// Uses `openssl` to make `NAME.pem` and a certificate that it issued, valid for two days.
    package init(_ name: String, in folder: TemporaryFolder) throws {
        key = try OpenSSLKey(.es256)
        let issuer = try OpenSSLKey(.es256)
        root = folder.file("\(name).pem")
        let (days, type) = (["-days", "2"], ["req", "-x509"])
        try OpenSSLKey.run(
            type + days + ["-key", issuer.file, "-subj", "/CN=Mill Root", "-out", root])
        certificate = try OpenSSLKey.run(
            type + days + [
                "-key", key.file, "-CA", root, "-CAkey", issuer.file, "-outform", "DER", "-subj",
                "/C=DE/O=Mill/OU=Authenticator Attestation/CN=Mill Key", "-addext",
                "basicConstraints=critical,CA:FALSE",
            ])
    }

    /// A passkey whose registration this maker attests.
    package func passkey(id: [UInt8], model: [UInt8]) throws -> TestPasskey {
        var passkey = try TestPasskey(id: id)
        (passkey.model, passkey.format) = (model, "packed")
        let (key, certificate) = (key, certificate)
        passkey.attester = { message in
            .named([
                "alg": .integer(-7), "sig": .bytes(try key.sign(message)),
                "x5c": .array([.bytes(certificate)]),
            ])
        }
        return passkey
    }
}
