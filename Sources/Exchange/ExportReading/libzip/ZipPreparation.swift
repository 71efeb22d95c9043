internal import WatchwordCryptography
internal import Glibc

/// Loads what libzip would otherwise load when it reads its first archive: the time zone, and
/// OpenSSL's configuration and algorithms.
///
/// A process calls this before it is confined. Its time zone is UTC from now on: libzip converts the
/// times of members, and the C library checks the file of any other zone each time.
///
/// - Returns: Whether the trial archive, whose member is encrypted with AES-256, could be read.
@discardableResult public func prepareZipReading() -> Bool {
    unsafe setenv("TZ", "UTC0", 1)
    tzset()
    let password = SecretBytes(copying: Array("trial".utf8).span)
    do {
        let archive = try ZipArchive(Base64.decodeSecret(Array(trialArchive.utf8).span))
        guard let member = try archive.member(named: "trial") else { return false }
        return try archive.read(member, password: password, limit: 5) == password
    } catch {
        return false
    }
}

/// Made with libzip 1.7.3: one stored member; its name, content and password are "trial".
private let trialArchive = """
    UEsDBDMAAQBjALSZdl0AAAAAIQAAAAUAAAAFAAsAdHJpYWwBmQcAAgBBRQMAAE9Q7SuDBBfdUch0/8zfJxJIPVjdZLJc\
    ciWZZb5e41MfeVBLAQI/AzMAAQBjALSZdl0AAAAAIQAAAAUAAAAFAAsAAAAAAAAAAAC2gQAAAAB0cmlhbAGZBwACAEFF\
    AwAAUEsFBgAAAAABAAEAPgAAAE8AAAAAAA==
    """
