import Testing
import WatchwordSystem

struct SharedLibraryTests {
    private typealias Cosine = @convention(c) (Double) -> Double

    @Test("a library is loaded by name, and its functions are called by name")
    func found() throws {
        let library = try #require(SharedLibrary("libm.so.6"))
        let cosine = try #require(unsafe library.function("cos", as: Cosine.self))
        #expect(cosine(0) == 1)
    }

    @Test("looking up a missing library or function returns nil")
    func missing() throws {
        if SharedLibrary("libnobody-has-this.so.1") != nil { Issue.record("found") }
        let library = try #require(SharedLibrary("libm.so.6"))
        #expect(unsafe library.function("no_such_function", as: Cosine.self) == nil)
    }
}
