import JSONReading
import PasskeyVerification
import Verification
import WatchwordCoding
import WatchwordCryptography

/// Reads the bytes as a browser's description of a ceremony.
func fuzzClientData(_ bytes: [UInt8]) {
    guard let read = clientData(bytes) else { return }
    precondition(bytes.count <= 4_096, "client data is bounded")
    // The same values in plain JSON are read in the same way, but their digest is computed from
    // other bytes.
    var members: [(String, JSONValue)] = [
        ("type", .text(read.type)), ("challenge", .text(read.challenge)),
        ("origin", .text(read.origin)), ("crossOrigin", .flag(read.isCrossOrigin)),
    ]
    if let topOrigin = read.topOrigin { members.append(("topOrigin", .text(topOrigin))) }
    let plain = JSONValue.object(members).rendered().withBytes { [UInt8](copying: $0) }
    // Escaping makes the text longer.
    guard plain.count <= 4_096 else { return }
    guard let again = clientData(plain) else { preconditionFailure("plain client data is read") }
    precondition(
        (again.type, again.challenge, again.origin, again.isCrossOrigin)
            == (read.type, read.challenge, read.origin, read.isCrossOrigin)
            && again.topOrigin == read.topOrigin, "client data round-trips")
    precondition((again.digest == read.digest) == (plain == bytes), "the digest covers all bytes")
}

/// Reads the bytes as the object that a browser returns at the end of either ceremony.
func fuzzBrowserResponse(_ bytes: [UInt8]) {
    let value: JSONValue
    do { value = try readJSON(bytes.span) } catch { return }
    do {
        let response = try RegistrationResponse.read(value).response()
        precondition((1...1_023).contains(response.credentialID.count), "ids are bounded")
    } catch {}
    do {
        let response = try AssertionResponse.read(value).response()
        precondition((1...1_023).contains(response.credentialID.count), "ids are bounded")
        precondition((response.userHandle?.count ?? 0) <= 64, "user handles are bounded")
    } catch {}
}

private func clientData(_ bytes: [UInt8]) -> ClientData? {
    ClientData.read(bytes)
}
