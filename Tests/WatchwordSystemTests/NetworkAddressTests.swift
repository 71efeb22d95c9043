import Testing
import WatchwordSystem

struct NetworkAddressTests {
    @Test("addresses are equal if their bytes are, and an IPv4 address equals its mapped form")
    func reading() throws {
        let four = try #require(NetworkAddress("192.0.2.1"))
        #expect(four == NetworkAddress("::ffff:192.0.2.1") && four.isVersion4)
        let six = try #require(NetworkAddress("2001:DB8::1"))
        #expect(six == NetworkAddress("2001:db8:0:0:0:0:0:1") && !six.isVersion4)
        #expect(six.bytes.count == 16 && six.bytes.first == 0x20 && six.bytes.last == 1)
    }

    @Test(
        "text that is not a numeric address is refused",
        arguments: [
            "", " 1.2.3.4", "1.2.3", "1.2.3.4.5", "256.1.1.1", "1.2.3.4:80", "[::1]", "::1%lo",
            "localhost", "1.2.3.4\u{0}", "12345::", "0x7f.1",
        ])
    func refusal(_ text: String) { #expect(NetworkAddress(text) == nil) }

    @Test("a network block contains the addresses with its prefix")
    func blocks() throws {
        let block = try #require(NetworkBlock("10.128.0.0/9"))
        #expect(block.contains(try #require(NetworkAddress("10.255.0.1"))))
        #expect(!block.contains(try #require(NetworkAddress("10.127.255.255"))))
        #expect(!block.contains(try #require(NetworkAddress("::a80:0"))))
        let one = try #require(NetworkBlock("::1"))
        #expect(one.contains(try #require(NetworkAddress("::1"))))
        #expect(!one.contains(try #require(NetworkAddress("::2"))))
        let all = try #require(NetworkBlock("::/0"))
        #expect(all.contains(try #require(NetworkAddress("1.2.3.4"))))
    }

    @Test(
        "an invalid network block is refused",
        arguments: [
            "10.0.0.0/33", "10.0.0.1/8", "10.0.0.0/-1", "10.0.0.0/", "/8", "::/129", "a/8",
            "10.0.0.0/8/8", "10.0.0.0/+8",
        ])
    func blockRefusal(_ text: String) { #expect(NetworkBlock(text) == nil) }
}
