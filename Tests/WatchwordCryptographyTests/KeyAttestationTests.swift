import Testing
import WatchwordCryptography

@Suite("Key attestations by TPMs") struct KeyAttestationTests {
    private func attestation(
        certificates: [Int] = [4_096], structures: [Int] = [1, 1_024, 1, 1], signature: Int = 96
    ) -> KeyAttestation? {
        func bytes(_ count: Int) -> [UInt8] {
            [UInt8](repeating: UInt8(count & 0xff), count: count)
        }
        return KeyAttestation(
            certificates: certificates.map(bytes), endorsementKey: bytes(structures[0]),
            attestationKey: bytes(structures[1]), deviceKey: bytes(structures[2]),
            certification: bytes(structures[3]), signature: bytes(signature))
    }

    @Test("an attestation has one to eight certificates, and no part that is empty or too large")
    func limits() {
        for count in [1, 8] {
            #expect(attestation(certificates: Array(repeating: 4_096, count: count)) != nil)
        }
        for sizes in [[], [0], [4_097], [1, 0], Array(repeating: 1, count: 9)] {
            #expect(attestation(certificates: sizes) == nil, "\(sizes)")
        }
        for place in 0..<4 {
            for size in [0, 1_025] {
                var structures = [1, 1, 1, 1]
                structures[place] = size
                #expect(attestation(structures: structures) == nil, "\(structures)")
            }
        }
        #expect(attestation(signature: 0) == nil && attestation(signature: 97) == nil)
    }

    @Test("a secret for a TPM has a blob and a seed of limited size")
    func activation() {
        func activation(_ blob: Int, _ seed: Int) -> KeyActivation? {
            KeyActivation(
                blob: [UInt8](repeating: 1, count: blob), seed: [UInt8](repeating: 2, count: seed))
        }
        #expect(activation(132, 512) != nil)
        for (blob, seed) in [(0, 1), (133, 1), (1, 0), (1, 513)] {
            #expect(activation(blob, seed) == nil)
        }
    }
}
