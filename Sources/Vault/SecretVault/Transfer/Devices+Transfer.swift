package import Devices
internal import WatchwordCryptography
package import WatchwordSystem

extension TPMObject: Transferable {
    package func write(to output: FrameWriter) {
        output.append(string: publicArea.span)
        output.append(string: privateArea.span)
        output.append(requiresPIN)
        output.append(isBoundToPCR7)
    }

    package init(
        reading fields: inout FieldReader, in bytes: Span<UInt8>
    ) throws(FieldReader.Unreadable) {
        let publicArea = try fields.string(bytes, limit: TPMObject.largestArea)
        let privateArea = try fields.string(bytes, limit: TPMObject.largestArea)
        let requiresPIN = try fields.flag(bytes)
        let object = TPMObject(
            publicArea: [UInt8](copying: bytes.extracting(publicArea)),
            privateArea: [UInt8](copying: bytes.extracting(privateArea)),
            requiresPIN: requiresPIN, isBoundToPCR7: try fields.flag(bytes))
        guard let object else { throw FieldReader.Unreadable() }
        self = object
    }
}

extension FIDOCredential: Transferable {
    package func write(to output: FrameWriter) {
        output.append(string: id.span)
        output.append(string: salt.span)
        output.append(text: relyingParty)
        output.append(requiresPIN)
    }

    package init(
        reading fields: inout FieldReader, in bytes: Span<UInt8>
    ) throws(FieldReader.Unreadable) {
        let id = try fields.string(bytes, limit: FIDOCredential.largestID)
        let salt = try fields.string(bytes, limit: FIDOCredential.saltCount)
        let relyingParty = try fields.text(bytes, limit: FIDOCredential.longestRelyingParty)
        let credential = FIDOCredential(
            id: [UInt8](copying: bytes.extracting(id)),
            salt: [UInt8](copying: bytes.extracting(salt)), relyingParty: relyingParty,
            requiresPIN: try fields.flag(bytes))
        guard let credential else { throw FieldReader.Unreadable() }
        self = credential
    }
}
