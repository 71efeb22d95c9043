import PasskeyVerification

/// Reads the bytes as CBOR; what is accepted in canonical order must have no other form.
func fuzzCBOR(_ bytes: [UInt8]) {
    guard let value = cbor(bytes, .canonical) else {
        _ = cbor(bytes, .any)
        return
    }
    precondition(cbor(bytes, .any) == value, "the order of keys does not change a value")
    precondition(cbor(bytes + [0], .canonical) == nil, "bytes that are left are refused")
    for count in bytes.indices {
        precondition(cbor(Array(bytes.prefix(count)), .any) == nil, "truncations are refused")
    }
}

private func cbor(_ bytes: [UInt8], _ order: CBORKeyOrder) -> CBORValue? {
    do { return try readCBOR(bytes, keyOrder: order) } catch { return nil }
}
