import TestSupport
import Testing

@testable import Devices

@Suite("Certificates in a TPM's memory") struct StoredCertificateTests {
    private func certificate(_ fill: UInt8, _ count: Int) -> [UInt8] {
        [0x30, 0x82, UInt8((count - 4) >> 8), UInt8((count - 4) & 0xff)]
            + [UInt8](repeating: fill, count: count - 4)
    }

    @Test("consecutive certificates are all found, in one index or across several")
    func several() {
        let (a, b, c) = (certificate(1, 300), certificate(2, 400), certificate(3, 260))
        #expect(storedCertificates(in: [a]) == [a])
        #expect(storedCertificates(in: [a + b + c]) == [a, b, c])
        #expect(storedCertificates(in: [a, b, c]) == [a, b, c])
        let all = a + b + c
        for cut in all.indices {
            #expect(
                storedCertificates(in: [Array(all[..<cut]), Array(all[cut...])]) == [a, b, c],
                "\(cut)")
        }
        #expect(storedCertificates(in: all.map { [$0] }) == [a, b, c])
        let largest = certificate(4, 4_096)
        #expect(storedCertificates(in: [largest]) == [largest])
    }

    @Test("bytes after the last certificate in an index are ignored")
    func filled() {
        let (a, b) = (certificate(1, 300), certificate(2, 400))
        for rest in [[0], [0xff, 0xff, 0xff, 0xff, 0xff], [0x30, 0x03, 1, 2, 3]] as [[UInt8]] {
            #expect(storedCertificates(in: [a + rest, b + rest]) == [a, b])
        }
    }

    @Test("bytes that are not a certificate, or only part of one, yield none")
    func none() {
        let a = certificate(1, 300)
        #expect(storedCertificates(in: []) == [])
        #expect(storedCertificates(in: [[], [0x30, 0x82], [1, 2, 3, 4]]) == [])
        for count in 0..<a.count {
            #expect(storedCertificates(in: [Array(a.prefix(count))]) == [])
        }
        // The certificate would be larger than any certificate that is sent.
        #expect(storedCertificates(in: [certificate(1, 4_097)]) == [])
    }
}
