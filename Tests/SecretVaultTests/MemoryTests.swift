import TestSupport
import Testing

struct MemoryTests {
    @Test(
        "only the secret in use is in memory, and none after use, even if lockable memory is full",
        arguments: ["scan", "scan-full"])
    func sealedInMemory(verb: String) throws {
        let vault = try TestVault()
        let writer = ForeignProgram(path: BuiltProgram.path("vault-writer"))
        try #require(try writer.run(["add", vault.path, "planted", "3"]).status == 0)
        let outcome = try writer.run([verb, vault.path, "planted", "3"])
        #expect(outcome.status == 0)
        #expect(outcome.text == "open [1, 0, 0]\nclosed [0, 0, 0]\n")
    }
}
