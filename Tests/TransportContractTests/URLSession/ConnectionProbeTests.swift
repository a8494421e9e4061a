#if os(Linux)
    import ErrandCore
    import Foundation
    import Testing

    @testable import ErrandURLSession

    /// Connection attempts in the kernel's socket table.
    @Suite("ConnectionProbe")
    struct ConnectionProbeTests {
        private let table = """
              sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
               0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 111 1 0
               1: 0100007F:C001 0100007F:1F90 02 00000001:00000000 01:00000010 00000000     0        0 222 2 0
               2: 0100007F:C002 0100007F:1F91 02 00000001:00000000 01:00000010 00000000     0        0 333 2 0
               3: 0100007F:C003 0100007F:1F90 01 00000000:00000000 00:00000000 00000000     0        0 444 1 0
            """

        @Test func connectingSocketsAreFound() {
            let found = ConnectionProbe.connecting(in: table)
            #expect(found.map(\.inode) == ["222", "333"])
            #expect(found.map(\.port) == [8080, 8081])
            #expect(ConnectionProbe.connecting(in: "nonsense\n1 2\n").isEmpty)
        }

        @Test func hostAndPortMustMatch() {
            let found = ConnectionProbe.connecting(in: table).filter { $0.port == 8080 }
            func isConnecting(_ host: String, _ port: Int = 8080) -> Bool {
                ConnectionProbe.isConnecting(found, to: [ConnectionPeer(host: host, port: port)])
            }
            #expect(isConnecting("127.0.0.1"))
            #expect(isConnecting("localhost"))
            #expect(!isConnecting("127.0.0.2"))
            #expect(!isConnecting("127.0.0.1", 8081))
            #expect(!isConnecting("[::1]"))
        }

        @Test func addressesUseTheKernelFormat() {
            #expect(
                ConnectionProbe.addresses(of: "127.0.0.1")
                    == ["0100007F", "0000000000000000FFFF00000100007F"])
            #expect(
                ConnectionProbe.addresses(of: "[::1]") == ["00000000000000000000000001000000"])
        }

        @Test func environmentProxiesArePeers() {
            let values = ["http_proxy": "http://u:p@10.0.0.1:3128", "all_proxy": "10.0.0.2"]
            func peers(_ scheme: String) -> [ConnectionPeer] {
                ConnectionPeer.all(of: HTTPURL(scheme: scheme, host: "a", path: "/")) { values[$0] }
            }
            #expect(
                peers("http") == [
                    ConnectionPeer(host: "a", port: 80),
                    ConnectionPeer(host: "10.0.0.1", port: 3128),
                ])
            #expect(peers("https").last == ConnectionPeer(host: "10.0.0.2", port: 1080))
            #expect(
                ConnectionPeer.all(of: HTTPURL(scheme: "http", host: "a")) { _ in nil }.count == 1)
        }
    }
#endif
