internal import WatchwordCryptography
internal import WatchwordSystem

// Every error of another module becomes a vault's error here.
extension VaultError {
    /// Converts the failure of a system call.
    static func system<Result: ~Copyable>(
        in call: @autoclosure () throws(SystemCallFailure) -> Result
    ) throws(VaultError) -> Result {
        do { return try call() } catch { throw .system(error) }
    }

    /// Converts an error about a file.
    ///
    /// - Parameter path: the path of a file with this name, relative to the vault's folder.
    static func file<Result: ~Copyable>(
        in call: @autoclosure () throws(FileError) -> Result,
        at path: (String) -> String = { $0 }
    ) throws(VaultError) -> Result {
        do {
            return try call()
        } catch {
            switch error {
            case .missing: throw .notFound
            case .folder: throw .folder
            case .symbolicLink: throw .symbolicLink
            case .otherOwner(let user): throw .otherOwner(user)
            case .openToOthers(let mode): throw .openToOthers(mode: mode)
            case .tooLarge: throw .tooLarge
            case .busy: throw .busy
            case .inTheWay(let name): throw .inTheWay(name: path(name))
            case .changed: throw .changedMeanwhile
            case .notConfirmed(let failure): throw .notConfirmed(failure)
            case .system(let failure): throw .system(failure)
            // The other reasons concern files that the user named.
            case .notAFile, .noFolder, .forbidden, .exists, .namesFolder, .notReplaceable, .pipe,
                .protected, .empty, .utf16, .nameNotUTF8, .tooDeep:
                throw .notAFile
            }
        }
    }

    /// Converts the failure of a call into OpenSSL.
    static func cryptography<Result>(
        in call: @autoclosure () throws(CryptographyFailure) -> Result
    ) throws(VaultError) -> Result {
        do { return try call() } catch { throw .cryptography(error) }
    }

    /// Throws `refusal`, unless a call into OpenSSL failed.
    static func cryptography<Result>(
        in call: @autoclosure () throws(CryptographyError) -> Result, or refusal: VaultError
    ) throws(VaultError) -> Result {
        do {
            return try call()
        } catch {
            guard case .failed(let failure) = error else { throw refusal }
            throw .cryptography(failure)
        }
    }

    /// Throws `refusal` if something does not have the required form.
    static func parsing<Result>(
        _ form: @autoclosure () throws -> Result, or refusal: VaultError
    ) throws(VaultError) -> Result {
        do { return try form() } catch { throw refusal }
    }
}

// What an error means depends on when it occurs.
extension VaultError {
    /// The attempt is counted before it is made.
    static func counting<Result: ~Copyable>(
        _ step: @autoclosure () throws(VaultError) -> Result
    ) throws(VaultError) -> Result {
        do {
            return try step()
        } catch {
            switch error {
            case .system(let failure), .notConfirmed(let failure): throw .notCounted(failure)
            default: throw error
            }
        }
    }

    /// The attempt was made, and its outcome is recorded.
    static func recording<Result>(
        _ step: @autoclosure () throws(VaultError) -> Result
    ) throws(VaultError) -> Result {
        do throws(VaultError) {
            return try step()
        } catch .notCounted(let failure) {
            throw .outcomeNotRecorded(failure)
        }
    }

    /// The vault is saved, and older files are erased: an error must not suggest that nothing was
    /// saved.
    static func erasingOlder(
        _ step: @autoclosure () throws(VaultError) -> Void
    ) throws(VaultError) {
        do throws(VaultError) {
            try step()
        } catch .system(let failure) {
            throw .previousNotErased(failure)
        }
    }

    /// Returns `nil` if there is no such file.
    static func ifFound<Result: ~Copyable>(
        _ step: @autoclosure () throws(VaultError) -> Result
    ) throws(VaultError) -> Result? {
        do throws(VaultError) {
            return try step()
        } catch .notFound {
            return nil
        }
    }
}

/// The result of `work`, or `nil` if it fails.
///
/// Only for what must not prevent anything else when it fails, such as a record that only warns or
/// sorts; the place that uses it says why.
func ifPossible<Result: ~Copyable>(_ work: @autoclosure () throws -> Result) -> Result? {
    do { return try work() } catch { return nil }
}
