import Glibc
import Testing

@testable import HTTPListener

struct PeerAddressTests {
    @Test("an IPv6 address belongs to its /64 network and its /48 site")
    func networks() throws {
        func peer(_ text: String) throws -> PeerAddress {
            var address = sockaddr_in6()
            address.sin6_family = sa_family_t(AF_INET6)
            let read = unsafe inet_pton(AF_INET6, text, &address.sin6_addr)
            try #require(read == 1)
            return unsafe withUnsafePointer(to: address) { address in
                unsafe address.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    unsafe PeerAddress($0)
                }
            }
        }
        let peers = try [
            "2001:db8:1:2::3", "2001:db8:1:2:ffff::", "2001:db8:1:3::3", "2001:db8:2:2::3",
        ].map(peer)
        #expect(peers.map { $0.origin == peers[0].origin } == [true, true, false, false])
        #expect(peers.map { $0.site == peers[0].site } == [true, true, true, false])
    }
}
