internal import Foundation

/// A maker of TPMs that certifies endorsement keys on P-256, through as many issuers as wanted.
public struct TPMMaker {
    private let folder: TemporaryFolder
    /// The names of the authorities, the root first.
    private let authorities: [String]

    /// The place where TPMs keep the certificate of their endorsement key on P-256.
    public static let p256Index = 0x01c0_000a
    /// The place where TPMs keep the certificates of issuers.
    public static let issuerIndex = 0x01c0_0100

    /// Makes a root, and issuers between it and the TPMs.
    public init(issuers: Int = 0) throws {
        folder = try TemporaryFolder()
        authorities = ["root"] + (0..<issuers).map { "issuer\($0)" }
        try write("ca", "basicConstraints=critical,CA:true\nkeyUsage=critical,keyCertSign\n")
        for (index, name) in authorities.enumerated() {
            try openssl(
                "req", "-new", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
                "-subj", "/CN=Example TPM \(name) \(UUID().uuidString)", "-keyout", "\(name).key",
                "-out", "\(name).csr")
            let issuer =
                index == 0
                ? ["-signkey", "root.key"]
                : [
                    "-CA", "\(authorities[index - 1]).pem", "-CAkey",
                    "\(authorities[index - 1]).key",
                ]
            try certify(name, from: name, issuer + ["-extfile", "ca.cnf"])
        }
    }

    /// Writes the root's certificate, in PEM, into a folder; returns the file's path.
    public func writeRoot(to folder: TemporaryFolder) throws -> String {
        try folder.write(self.folder.bytes(of: "root.pem"), to: "tpm-roots.pem")
    }

    /// The certificates of the issuers that are not the root, in DER; the issuer nearest to the TPM
    /// first.
    public func issuerCertificates() throws -> [[UInt8]] {
        try authorities.dropFirst().reversed().map { try der($0) }
    }

    /// Certifies the endorsement key on P-256 of a TPM; the certificate is in DER.
    ///
    /// - Parameter usage: the extended key usage, by default the usage of endorsement certificates.
    public func certificate(
        for tpm: EmulatedTPM, usage: String? = "2.23.133.8.1"
    ) throws -> [UInt8] {
        let tools = try TPMTools(for: tpm)
        try tools.run("tpm2_createek", "-G", "ecc", "-c", "ek.ctx", "-u", "ek.pem", "-f", "pem")
        try folder.write(tools.folder.bytes(of: "ek.pem"), to: "ek.pub.pem")
        try write(
            "leaf",
            "basicConstraints=critical,CA:false\nkeyUsage=critical,keyAgreement\n"
                + (usage.map { "extendedKeyUsage=\($0)\n" } ?? ""))
        let issuer = authorities[authorities.count - 1]
        // The request's own key is not used.
        try certify(
            "leaf", from: issuer,
            [
                "-force_pubkey", "ek.pub.pem", "-CA", "\(issuer).pem", "-CAkey", "\(issuer).key",
                "-extfile", "leaf.cnf",
            ])
        return try der("leaf")
    }

    private func certify(_ name: String, from request: String, _ more: [String]) throws {
        try openssl(
            ["x509", "-req", "-in", "\(request).csr", "-days", "30", "-set_serial"]
                + ["\(Int.random(in: 1...(1 << 40)))", "-out", "\(name).pem"] + more)
    }

    private func der(_ name: String) throws -> [UInt8] {
        try openssl("x509", "-in", "\(name).pem", "-outform", "DER", "-out", "\(name).der")
        return try folder.bytes(of: "\(name).der")
    }

    private func write(_ name: String, _ text: String) throws {
        try folder.write(Array(text.utf8), to: "\(name).cnf")
    }

    private func openssl(_ arguments: String...) throws { try openssl(arguments) }

    private func openssl(_ arguments: [String]) throws {
        guard let program = ForeignProgram("openssl") else { throw EmulatedTPM.Failure.missing }
        let outcome = try program.run(
            arguments.map { $0.contains(".") && !$0.contains(":") ? folder.file($0) : $0 })
        guard outcome.status == 0 else {
            throw TPMTools.Failed(
                program: "openssl", errors: String(decoding: outcome.errors, as: UTF8.self))
        }
    }
}

extension EmulatedTPM {
    /// Writes bytes into the TPM's memory, as its maker does.
    public func store(_ bytes: [UInt8], at index: Int) throws {
        let tools = try TPMTools(for: self)
        try tools.folder.write(bytes, to: "content.bin")
        let number = "0x" + String(index, radix: 16)
        try tools.run(
            "tpm2_nvdefine", number, "-C", "p", "-s", "\(bytes.count)", "-a",
            "ppwrite|ppread|ownerread|authread|no_da|platformcreate|writedefine")
        try tools.run("tpm2_nvwrite", number, "-C", "p", "-i", "content.bin")
    }
}
