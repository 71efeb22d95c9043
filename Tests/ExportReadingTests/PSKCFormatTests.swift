import Exports
import OneTimePassword
import TestSupport
import Testing
import WatchwordCryptography

@testable import ExportReading

@Suite("Portable symmetric key containers (RFC 6030)")
struct PSKCFormatTests {
    private static let namespaces = """
        xmlns="urn:ietf:params:xml:ns:keyprov:pskc" xmlns:ds="http://www.w3.org/2000/09/xmldsig#"
        xmlns:xenc="http://www.w3.org/2001/04/xmlenc#"
        xmlns:xenc11="http://www.w3.org/2009/xmlenc11#"
        xmlns:pkcs5="http://www.rsasecurity.com/rsalabs/pkcs/schemas/pkcs-5v2-0#"
        """

    /// The container of figures 6 and 7.
    private static func container(
        key: String, macKey: String, secret: String, code: String
    ) -> String {
        """
        <?xml version="1.0" encoding="UTF-8"?>
        <KeyContainer Version="1.0" \(namespaces)>
          <EncryptionKey>\(key)</EncryptionKey>
          <MACMethod Algorithm="http://www.w3.org/2000/09/xmldsig#hmac-sha1">
            <MACKey>
              <xenc:EncryptionMethod Algorithm="http://www.w3.org/2001/04/xmlenc#aes128-cbc"/>
              <xenc:CipherData><xenc:CipherValue>
                \(macKey)
              </xenc:CipherValue></xenc:CipherData>
            </MACKey>
          </MACMethod>
          <KeyPackage>
            <DeviceInfo><Manufacturer>Maker</Manufacturer><SerialNo>987654321</SerialNo></DeviceInfo>
            <Key Id="12345678" Algorithm="urn:ietf:params:xml:ns:keyprov:pskc:hotp">
              <Issuer>Issuer</Issuer>
              <AlgorithmParameters>
                <ResponseFormat Length="8" Encoding="DECIMAL"/>
              </AlgorithmParameters>
              <Data>
                <Secret>
                  <EncryptedValue>
                    <xenc:EncryptionMethod
                      Algorithm="http://www.w3.org/2001/04/xmlenc#aes128-cbc"/>
                    <xenc:CipherData><xenc:CipherValue>
                      \(secret)
                    </xenc:CipherValue></xenc:CipherData>
                  </EncryptedValue>
                  <ValueMAC>\(code)</ValueMAC>
                </Secret>
                <Counter><PlainValue>5</PlainValue></Counter>
              </Data>
            </Key>
          </KeyPackage>
        </KeyContainer>
        """
    }

    /// The container of figure 6.
    private static let preShared = container(
        key: "<ds:KeyName>Pre-shared-key</ds:KeyName>",
        macKey: "ESIzRFVmd4iZABEiM0RVZgKn6WjLaTC1sbeBMSvIhRejN9vJa2BOlSaMrR7I5wSX",
        secret: "AAECAwQFBgcICQoLDA0OD+cIHItlB3Wra1DUpxVvOx2lef1VmNPCMl8jwZqIUqGv",
        code: "Su+NvtQfmvfJzF6bmQiJqoLRExc=")

    /// The container of figure 7.
    private static func derived(iterations: String = "1000") -> String {
        container(
            key: """
                <xenc11:DerivedKey><xenc11:KeyDerivationMethod
                Algorithm="http://www.rsasecurity.com/rsalabs/pkcs/schemas/pkcs-5v2-0#pbkdf2">
                <pkcs5:PBKDF2-params><Salt><Specified>Ej7/PEpyEpw=</Specified></Salt>
                <IterationCount>\(iterations)</IterationCount><KeyLength>16</KeyLength><PRF/>
                </pkcs5:PBKDF2-params></xenc11:KeyDerivationMethod></xenc11:DerivedKey>
                """,
            macKey: "2GTTnLwM3I4e5IO5FkufoOEiOhNj91fhKRQBtBJYluUDsPOLTfUvoU2dStyOwYZx",
            secret: "oTvo+S22nsmS2Z/RtcoF8Hfh+jzMe0RkiafpoDpnoZTjPYZu6V+A4aEn032yCr4f",
            code: "LP6xMvjtypbfT9PdkJhBZ+D6O4w=")
    }

    private static func lines(_ text: String, _ password: String?) throws -> [String] {
        let found = try read(text, password)
        #expect(found.format == .pskc)
        return found.lines
    }

    private static let expected =
        "hotp Issuer|987654321 3132333435363738393031323334353637383930 SHA1 8 5 [] active"

    @Test("figure 6: a pre-shared key in hexadecimal digits")
    func preSharedKey() throws {
        #expect(
            try Self.lines(Self.preShared, "12345678901234567890123456789012") == [Self.expected])
        for wrong in ["12345678901234567890123456789013", "1234", "key", ""] {
            #expect(throws: ExportError.wrongPassword(.pskc)) {
                try Self.lines(Self.preShared, wrong)
            }
        }
        #expect(throws: ExportError.passwordNeeded(.pskc)) { try Self.lines(Self.preShared, nil) }
    }

    @Test("figure 7: a key derived from a password")
    func derivedKey() throws {
        #expect(try Self.lines(Self.derived(), "qwerty") == [Self.expected])
        #expect(throws: ExportError.wrongPassword(.pskc)) {
            try Self.lines(Self.derived(), "Qwerty")
        }
        #expect(
            throws: ExportError.overLimit(
                .pskc, .iterations, found: 10_000_001, allowed: 10_000_000)
        ) {
            try Self.lines(Self.derived(iterations: "10000001"), "qwerty")
        }
    }

    @Test("a changed value is refused because its MAC does not match")
    func changedValue() throws {
        let changed = Self.derived().replacing("oTvo+S22", with: "oTvo+S23")
        #expect(throws: ExportError.wrongPassword(.pskc)) { try Self.lines(changed, "qwerty") }
    }

    @Test("plain values and other namespace prefixes are read; other kinds of keys are refused")
    func plain() throws {
        let text = """
            <p:KeyContainer Version="1.0" xmlns:p="urn:ietf:params:xml:ns:keyprov:pskc">
              <p:KeyPackage>
                <p:Key Algorithm="urn:ietf:params:xml:ns:keyprov:pskc:totp">
                  <p:Issuer>Acme &amp; Co</p:Issuer><p:FriendlyName>ann</p:FriendlyName>
                  <p:AlgorithmParameters><p:Suite>HMAC-SHA256</p:Suite>
                    <p:ResponseFormat Length="8" Encoding="DECIMAL"/></p:AlgorithmParameters>
                  <p:Data><p:Secret><p:PlainValue>ABEiM0RVZneImQ==</p:PlainValue></p:Secret>
                    <p:TimeInterval><p:PlainValue>60</p:PlainValue></p:TimeInterval></p:Data>
                  <p:UserId>UID=bob</p:UserId>
                </p:Key>
              </p:KeyPackage>
              <p:KeyPackage>
                <p:Key Algorithm="urn:ietf:params:xml:ns:keyprov:pskc:pin">
                  <p:Data><p:Secret><p:PlainValue>MTIzNA==</p:PlainValue></p:Secret></p:Data>
                </p:Key>
              </p:KeyPackage>
              <p:KeyPackage>
                <p:Key Algorithm="urn:ietf:params:xml:ns:keyprov:pskc:hotp"/>
              </p:KeyPackage>
            </p:KeyContainer>
            """
        #expect(
            try Self.lines(text, nil) == [
                "totp Acme & Co|UID=bob 00112233445566778899 SHA256 8 60 [] active",
                "2 unknownType", "3 noSecret",
            ])
    }

    @Test(
        "an encrypted number is read as big-endian bytes of any length, or as digits",
        arguments: [
            "Dw4NDAsKCQgHBgUEAwIBAJ1BhUmAxtMKlVk4Ppulcjc=",
            "Dw4NDAsKCQgHBgUEAwIBAEw4wZ42xxUUN4DFqhIeZt4=",
            "Dw4NDAsKCQgHBgUEAwIBADlEkP0c9F+7bFix6oWPEmc=",
        ])
    func encryptedNumber(interval: String) throws {
        func encrypted(_ value: String) -> String {
            """
            <EncryptedValue>
              <xenc:EncryptionMethod Algorithm="http://www.w3.org/2001/04/xmlenc#aes128-cbc"/>
              <xenc:CipherData><xenc:CipherValue>\(value)</xenc:CipherValue></xenc:CipherData>
            </EncryptedValue>
            """
        }
        let text = """
            <KeyContainer Version="1.0" \(Self.namespaces)>
              <EncryptionKey><ds:KeyName>Pre-shared-key</ds:KeyName></EncryptionKey>
              <KeyPackage><Key Algorithm="urn:ietf:params:xml:ns:keyprov:pskc:totp">
                <Issuer>Acme</Issuer><FriendlyName>ann</FriendlyName>
                <Data>
                  <Secret>\(encrypted("AAECAwQFBgcICQoLDA0ODy9NdbbMOxYcBV4pjqa4tjw="))</Secret>
                  <TimeInterval>\(encrypted(interval))</TimeInterval>
                </Data>
              </Key></KeyPackage>
            </KeyContainer>
            """
        #expect(
            try Self.lines(text, "12345678901234567890123456789012")
                == ["totp Acme|ann 00112233445566778899 SHA1 6 60 [] active"])
    }

    @Test("files that follow the RFC's drafts, with old element names and line breaks, are read")
    func drafts() throws {
        func container(_ encryption: String, secret: String) -> String {
            """
            <KeyContainer Version="1" \(Self.namespaces)>
              \(encryption)
              <Device>
                <DeviceInfo><SerialNo>987654321</SerialNo></DeviceInfo>
                <Key KeyId="1" KeyAlgorithm="urn:ietf:params:xml:ns:keyprov:pskc#hotp">
                  <Issuer>
                    Issuer
                  </Issuer>
                  <Usage OTP="true"><ResponseFormat Length="8" Format="DECIMAL"/></Usage>
                  <Data>
                    <Secret>\(secret)</Secret>
                    <Counter><PlainValue>
                      5
                    </PlainValue></Counter>
                  </Data>
                </Key>
              </Device>
            </KeyContainer>
            """
        }
        let plain = "<PlainValue>MTIzNDU2Nzg5MDEyMzQ1Njc4OTA=</PlainValue>"
        #expect(try Self.lines(container("", secret: plain), nil) == [Self.expected])
        // The same ciphertext as in figure 6.
        func encrypted(code: String) -> String {
            container(
                """
                <EncryptionKey><ds:KeyName>Pre-shared-key</ds:KeyName></EncryptionKey>
                <MACAlgorithm>http://www.w3.org/2000/09/xmldsig#hmac-sha1
                </MACAlgorithm>
                """,
                secret: """
                    <EncryptedValue><xenc:EncryptionMethod
                    Algorithm="http://www.rsasecurity.com/rsalabs/pkcs/schemas/pkcs-5#pbes2">
                    <EncryptionScheme Algorithm="http://www.w3.org/2001/04/xmlenc#aes128-cbc"/>
                    </xenc:EncryptionMethod><xenc:CipherData><xenc:CipherValue>
                    AAECAwQFBgcICQoLDA0OD+cIHItlB3Wra1DUpxVvOx2lef1VmNPCMl8jwZqIUqGv
                    </xenc:CipherValue></xenc:CipherData></EncryptedValue>
                    <ValueMAC>\(code)</ValueMAC>
                    """)
        }
        let key = "12345678901234567890123456789012"
        let code = "N8Agsfe5A7WQFswmdvL/MHdd3y0="
        #expect(try Self.lines(encrypted(code: code), key) == [Self.expected])
        #expect(throws: ExportError.wrongPassword(.pskc)) {
            try Self.lines(encrypted(code: "AAAAAAAAAAAAAAAAAAAAAAAAAAA="), key)
        }
    }
}
