import TestSupport
import Testing

struct MissingAlgorithmTests {
    /// OpenSSL with its empty provider only.
    private static let configuration = """
        openssl_conf = init
        [init]
        providers = providers
        [providers]
        null = null
        [null]
        activate = 1

        """

    @Test(
        "an OpenSSL that lacks an algorithm is reported before a vault is used",
        arguments: ["list", "code Site", "init --vault other/vault"])
    func reported(command: String) throws {
        let fixture = try VaultFixture()
        try fixture.folder.write(Array(Self.configuration.utf8), to: "openssl.cnf")
        let outcome = try fixture.run(
            "OPENSSL_CONF=$PWD/openssl.cnf watchword \(command) --passphrase-file pass.txt",
            status: 6)
        #expect(String(decoding: outcome.errors, as: UTF8.self).contains("OpenSSL failed (digest)"))
    }
}
