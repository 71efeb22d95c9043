/// Why no certificate was made.
public enum TestIdentityFailure: Error {
    case noOpenSSL
    case refused(String)
}

/// Uses `openssl` to make `NAME.pem` and `NAME.key` for 127.0.0.1, valid for two days.
public func makeTestIdentity(_ name: String, in folder: TemporaryFolder) throws {
    guard let openssl = ForeignProgram("openssl") else { throw TestIdentityFailure.noOpenSSL }
    let outcome = try openssl.run([
        "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
        "-days", "2", "-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1",
        "-keyout", folder.file("\(name).key"), "-out", folder.file("\(name).pem"),
    ])
    guard outcome.status == 0 else {
        throw TestIdentityFailure.refused(String(decoding: outcome.errors, as: UTF8.self))
    }
}
