import Exports
import OneTimePassword

/// A deviation of an imported item that was accepted.
enum ImportWarning: Hashable {
    case keyURI(KeyURIWarning)
    case credential(CredentialWarning)
    case migration(MigrationWarning)
    case incompleteSecret
    case steamParameters
    case counterOfLastCode
    /// A kind of code that is stored, but not computed.
    case notComputed(UncomputedCode.Kind)
    /// The entry in the vault has a different note, which was kept.
    case otherNote
    /// A detail that the vault cannot store.
    case leftOut(Detail)

    enum Detail { case tag, note, icon }

    init(_ warning: ExportWarning) {
        self =
            switch warning {
            case .incompleteSecret: .incompleteSecret
            case .steamParameters: .steamParameters
            case .counterOfLastCode: .counterOfLastCode
            case .keyURI(let warning): .keyURI(warning)
            case .credential(let warning): .credential(warning)
            }
    }

    /// The categories in which a file's warnings are counted.
    enum Category: CaseIterable {
        case incompleteSecret, misnamedParameter, counterOfLastCode, shortKey, digits, longPeriod
        case steamParameters, keyURI, migration, notComputed, otherNote, leftOut
    }

    var category: Category {
        switch self {
        case .keyURI(.misnamedParameter): .misnamedParameter
        case .keyURI(.key(.strayCharacter)), .keyURI(.key(.nonzeroTrailingBits)),
            .incompleteSecret:
            .incompleteSecret
        case .keyURI: .keyURI
        case .credential(.shortKey): .shortKey
        case .credential(.digits): .digits
        case .credential(.longPeriod): .longPeriod
        case .migration: .migration
        case .steamParameters: .steamParameters
        case .counterOfLastCode: .counterOfLastCode
        case .notComputed: .notComputed
        case .otherNote: .otherNote
        case .leftOut: .leftOut
        }
    }
}
