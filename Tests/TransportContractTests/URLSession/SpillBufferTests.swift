import ErrandCore
import Foundation
import Testing

@testable import ErrandURLSession

/// Bytes that wait for a receiver: in memory first, then in a nameless file, always in order.
@Suite("SpillBuffer")
struct SpillBufferTests {
    private func append(_ data: Data, _ buffer: SpillBuffer) throws {
        try data.withUnsafeBytes { try buffer.append($0) }
    }

    @Test func keepsOrderAcrossTheFile() throws {
        let buffer = SpillBuffer()
        var expected = Data()
        for round in 0..<40 {
            let piece = pattern(20_000 + round)
            expected += piece
            try append(piece, buffer)
        }
        #expect(buffer.spilled > 500_000)
        var read = Data()
        while true {
            let piece = try buffer.next(upTo: 7777)
            if piece.isEmpty { break }
            read += piece
            if read.count > 300_000, read.count < 310_000 {
                try append(Data("x".utf8), buffer)
                expected += Data("x".utf8)
            }
        }
        #expect(read == expected)
        #expect(buffer.spilled == 0)
        // Emptied, it begins in memory again.
        try append(pattern(1000), buffer)
        #expect(buffer.spilled == 0)
        #expect(try buffer.next() == pattern(1000))
    }
}

/// Places at a host's door.
@Suite("OriginGate")
struct OriginGateTests {
    private final class Guest {}

    @Test func firstComeFirstServed() {
        let guests = (0..<5).map { _ in Guest() }
        let ids = guests.map { ObjectIdentifier($0) }
        var gate = OriginGate(limit: 2)
        let entered = [0, 1, 2, 3].map { gate.enter("a", ids[$0]) }
        #expect(entered == [true, true, false, false])
        let elsewhere = gate.enter("b", ids[4])
        #expect(elsewhere)
        let gaveUp = [gate.giveUp("a", ids[2]), gate.giveUp("a", ids[2])]
        #expect(gaveUp == [true, false])
        let next = [gate.leave("a"), gate.leave("a"), gate.leave("a")]
        #expect(next == [ids[3], nil, nil])
        let again = gate.enter("a", ids[0])
        #expect(again)
    }

    @Test func nothingIsKeptOfWhoIsGone() {
        let guests = (0..<3).map { _ in Guest() }
        let ids = guests.map { ObjectIdentifier($0) }
        var gate = OriginGate(limit: 1)
        #expect(ids.map { gate.enter("a", $0) } == [true, false, false])
        #expect(ids.dropFirst().map { gate.giveUp("a", $0) } == [true, true])
        #expect(gate.leave("a") == nil)
        #expect(gate.isEmpty)
    }

    @Test func zeroIsNoLimit() {
        let guest = Guest()
        var gate = OriginGate(limit: 0)
        let entered = (0..<100).map { _ in gate.enter("a", ObjectIdentifier(guest)) }
        #expect(!entered.contains(false))
    }
}

#if os(Linux)
    /// The kernel's table of sockets, read for connections that are being set up.
    @Suite("ConnectionProbe")
    struct ConnectionProbeTests {
        private let table = """
              sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
               0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 111 1 0
               1: 0100007F:C001 0100007F:1F90 02 00000001:00000000 01:00000010 00000000     0        0 222 2 0
               2: 0100007F:C002 0100007F:1F91 02 00000001:00000000 01:00000010 00000000     0        0 333 2 0
               3: 0100007F:C003 0100007F:1F90 01 00000000:00000000 00:00000000 00000000     0        0 444 1 0
            """

        @Test func findsTheOnesToAPort() {
            let found = ConnectionProbe.connecting(in: table)
            #expect(found.map(\.inode) == ["222", "333"])
            #expect(found.map(\.port) == [8080, 8081])
            #expect(ConnectionProbe.connecting(in: "nonsense\n1 2\n").isEmpty)
        }

        @Test func otherHostsOnThePortAreSomebodyElses() {
            let found = ConnectionProbe.connecting(in: table).filter { $0.port == 8080 }
            func leads(_ host: String, _ port: Int = 8080) -> Bool {
                ConnectionProbe.leads(found, to: [ConnectionPeer(host: host, port: port)])
            }
            #expect(leads("127.0.0.1"))
            #expect(leads("localhost"))
            #expect(!leads("127.0.0.2"))
            #expect(!leads("127.0.0.1", 8081))
            #expect(!leads("[::1]"))
        }

        @Test func addressesAsTheKernelHasThem() {
            #expect(
                ConnectionProbe.addresses(of: "127.0.0.1")
                    == ["0100007F", "0000000000000000FFFF00000100007F"])
            #expect(
                ConnectionProbe.addresses(of: "[::1]") == ["00000000000000000000000001000000"])
        }

        @Test func proxiesOfTheEnvironmentArePeers() {
            let values = ["http_proxy": "http://u:p@10.0.0.1:3128", "all_proxy": "10.0.0.2"]
            func peers(_ scheme: String) -> [ConnectionPeer] {
                ConnectionPeer.all(of: URI(scheme: scheme, host: "a", path: "/")) { values[$0] }
            }
            #expect(
                peers("http") == [
                    ConnectionPeer(host: "a", port: 80),
                    ConnectionPeer(host: "10.0.0.1", port: 3128),
                ])
            #expect(peers("https").last == ConnectionPeer(host: "10.0.0.2", port: 1080))
            #expect(ConnectionPeer.all(of: URI(scheme: "http", host: "a")) { _ in nil }.count == 1)
        }
    }
#endif
