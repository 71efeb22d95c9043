/// The fuzz targets.
///
/// Each accepts any bytes, and must neither crash nor violate its contract.
enum FuzzTarget: String, CaseIterable {
    case uri
    case base32
    case migration
    case lines
    case picture
    case gif
    case tiff
    case heif
    case bitmap
    case svg
    case pdf
    case symbols
    case vault
    case attempts
    case record
    case manifest
    case recovery
    case transfer
    case token
    case json
    case keys
    case answer
    case exporttext
    case exportjson
    case exportxml
    case sqlite
    case zip
    case kdbx
    case java
    case pgp
    case gzip
    case cbor
    case attestation
    case statement
    case authenticator
    case tpm
    case certificate
    case client
    case response
    case publickey
    case evidence
    case transcript
    case courier
    case devicekey

    func tryOut(_ bytes: [UInt8]) {
        switch self {
        case .uri: fuzzKeyURI(bytes)
        case .base32: fuzzBase32(bytes)
        case .migration: fuzzMigration(bytes)
        case .lines: fuzzLines(bytes)
        case .picture: fuzzPicture(bytes)
        case .gif: fuzzPicture(bytes, library: .giflib)
        case .tiff: fuzzPicture(bytes, library: .libtiff)
        case .heif: fuzzPicture(bytes, library: .libheif)
        case .bitmap: fuzzPicture(bytes, library: .gdkPixbuf)
        case .svg: fuzzPicture(bytes, library: .librsvg)
        case .pdf: fuzzPicture(bytes, library: .poppler)
        case .symbols: fuzzSymbols(bytes)
        case .vault: fuzzVault(bytes)
        case .attempts: fuzzAttempts(bytes)
        case .record: fuzzRecord(bytes)
        case .manifest: fuzzManifest(bytes)
        case .recovery: fuzzRecoveryKey(bytes)
        case .transfer: fuzzTransfer(bytes)
        case .token: fuzzToken(bytes)
        case .json: fuzzJSON(bytes)
        case .keys: fuzzKeys(bytes)
        case .answer: fuzzExportAnswer(bytes)
        case .exporttext, .exportjson: fuzzExport(bytes)
        case .exportxml: fuzzExport(bytes, prefix: [UInt8(ascii: "<")])
        case .sqlite: fuzzExport(bytes, prefix: Array("SQLite format 3\0".utf8))
        case .zip: fuzzExport(bytes, prefix: Array("PK".utf8) + [3, 4])
        case .kdbx: fuzzExport(bytes, prefix: [0x03, 0xD9, 0xA2, 0x9A, 0x67, 0xFB, 0x4B, 0xB5])
        case .java: fuzzExport(bytes, prefix: [0xAC, 0xED, 0x00, 0x05])
        case .pgp: fuzzExport(bytes, prefix: [0xC3])
        case .gzip: fuzzGzip(bytes)
        case .cbor: fuzzCBOR(bytes)
        case .attestation: fuzzAttestation(bytes)
        case .statement: fuzzStatement(bytes)
        case .authenticator: fuzzAuthenticatorData(bytes)
        case .tpm: fuzzTPM(bytes)
        case .certificate: fuzzCertificate(bytes)
        case .client: fuzzClientData(bytes)
        case .response: fuzzBrowserResponse(bytes)
        case .publickey: fuzzPublicKey(bytes)
        case .evidence: fuzzDeviceKeyEvidence(bytes)
        case .transcript: fuzzTranscript(bytes)
        case .courier: fuzzCourier(bytes)
        case .devicekey: fuzzDeviceKey(bytes)
        }
    }
}
