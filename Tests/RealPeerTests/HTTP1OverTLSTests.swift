import ErrandCore
import ErrandCurl
import ErrandTransport
import Foundation
import HTTPTypes
import TestSupport
import Testing

@testable import ErrandTesting

/// HTTP/1.1 over TLS, asked for or negotiated.
@Suite("Real peers: HTTP/1.1 over TLS", .limited, .bothVersions)
struct HTTP1OverTLSTests {
    private let peers: Peers
    private let transport = CurlTransport()
    init() throws { peers = try Peers.get() }

    /// One connection carries the first request, whose protocol is negotiated, and the later ones.
    @Test func negotiatedConnectionIsKept() async throws {
        var connections: Set<String> = []
        for number in 0..<5 {
            let record = try await transport.run(peers.request(.nginxTLS12))
            #expect(record.error == nil, "\(record.errorText)")
            #expect(record.head?.httpVersion == .http11)
            #expect(record.end?.timings.reusedConnection == (number > 0))
            #expect((record.end?.timings.secured != nil) == (number == 0))
            connections.insert(PeerInfo(record).connection)
        }
        #expect(connections.count == 1)
    }

    @Test func burstToAnUnknownOriginSucceeds() async throws {
        for _ in 0..<3 {
            let requests = Array(repeating: peers.request(.nginxTLS12), count: 20)
            let records = try await transport.run(all: requests)
            #expect(records.allSatisfy { $0.error == nil && $0.head?.status == .ok })
        }
    }

    /// Small reads leave bytes in OpenSSL that no event of the socket announces.
    @Test(arguments: [nil, 1024])
    func pausedReceiverGetsTheWholeBody(buffer: Int?) async throws {
        for peer in [Peers.Peer.nginxTLS12, .nginxTLS] {
            // The second request uses the kept connection.
            for _ in 0..<2 {
                var request = peers.request(peer, "/large")
                request.options.receiveBufferBytes = buffer
                let recorder = RecordingReceiver { $0.chunks % 7 == 0 ? .pause : .more }
                let transfer = transport.start(request, receiver: recorder)
                var chunks = 0
                while recorder.record.end == nil {
                    let seen = chunks
                    chunks = try await recorder.until { $0.chunks > seen || $0.end != nil }.chunks
                    transfer.resumeReceiving()
                }
                let isWhole = recorder.record.body == Peers.largeBody
                #expect(isWhole, "\(recorder.record.received), \(recorder.record.errorText)")
                #expect(recorder.record.violations.isEmpty)
            }
        }
    }

    /// OpenSSL may hold bytes that no event of the socket announces when the reader asks for more.
    @Test func readerOfAStreamGetsTheWholeBody() async throws {
        for peer in [Peers.Peer.nginxTLS12, .nginxTLS] {
            // The later requests use the kept connection.
            for _ in 0..<5 {
                let receiver = ChannelReceiver()
                receiver.start(transport, peers.request(peer, "/large"))
                let channel = await receiver.channel()
                var body = Data()
                while let chunk = try await channel.next() { body += chunk }
                let isWhole = body == Peers.largeBody
                #expect(isWhole && receiver.ends == 1, "\(body.count) bytes")
            }
        }
    }

    /// The server reads more slowly than the body is sent, so writes are repeated.
    @Test func largeUploadArrives() async throws {
        let body = Data(repeating: 7, count: 5 << 20)
        for peer in [Peers.Peer.nginxTLS12, .nginxTLS] {
            for _ in 0..<2 {
                let record = try await transport.run(
                    peers.request(peer, method: .post, "/bin/post", body: .data(body)))
                #expect(record.head?.status == .ok, "\(record.errorText)")
                #expect(record.end?.timings.bytesSent ?? 0 > Int64(body.count))
            }
        }
    }

    private func changing(
        _ name: String, _ version: TransportOptions.HTTPVersionPolicy
    ) -> TransportRequest {
        var request = peers.request(.earlyTLS, host: name, "/stop?status=200")
        request.options.security = .insecureForTests
        request.options.httpVersion = version
        return request
    }

    /// A request that demands HTTP/2 does not use a connection that has negotiated HTTP/1.1.
    @Test func connectionWithHTTP11IsNotUsedForHTTP2() async throws {
        let name = "changes-\(UUID().uuidString).errand.test"
        let transport = CurlTransport()
        for number in 0..<4 {
            let old = try await transport.run(changing(name, .automatic))
            #expect(old.error == nil && old.head?.httpVersion == .http11, "\(old.errorText)")
            #expect(old.end?.timings.reusedConnection == (number > 0))
            for _ in 0..<2 {
                let new = try await transport.run(changing(name, .http2))
                #expect(new.error == nil && new.head?.httpVersion == .http2, "\(new.errorText)")
            }
        }
    }

    /// Each connection negotiates its protocol, also after one with HTTP/1.1.
    @Test func protocolIsNegotiatedForEachConnection() async throws {
        let name = "moves-\(UUID().uuidString).errand.test"
        let first = try await transport.run(changing(name, .automatic))
        #expect(first.error == nil && first.head?.httpVersion == .http11, "\(first.errorText)")
        // The server refuses the second handshake whatever it offers.
        let second = try await transport.run(changing(name, .automatic))
        #expect(second.error?.code == .secureConnectionFailed, "\(second.errorText)")
        let third = try await transport.run(changing(name, .automatic))
        #expect(third.error == nil && third.head?.httpVersion == .http2, "\(third.errorText)")
    }

    /// An idle connection is closed when a request with other options finds that its server speaks HTTP/2 now.
    @Test func idleConnectionIsSupersededByAnotherProtocol() async throws {
        let name = "changes-\(UUID().uuidString).errand.test"
        let transport = CurlTransport()
        let events = Watched<[String]>([])
        let observation = transport.connectionReports.observe { event in
            let version = event.connection.httpVersion?.rawValue ?? "unknown"
            events.change { $0.append("\(event.closeReason?.rawValue ?? "opened") \(version)") }
        }
        let first = try await transport.run(changing(name, .automatic))
        #expect(first.error == nil && first.head?.httpVersion == .http11, "\(first.errorText)")
        var request = changing(name, .automatic)
        request.options.addressFamily = .ipv4
        let second = try await transport.run(request)
        #expect(second.error == nil && second.head?.httpVersion == .http2, "\(second.errorText)")
        let seen = try await events.wait { $0.count >= 3 ? $0 : nil }
        #expect(
            Set(seen) == ["opened HTTP/1.1", "superseded HTTP/1.1", "opened HTTP/2"], "\(seen)")
        withExtendedLifetime(observation) {}
    }

    @Test func cancelledTransferClosesItsConnection() async throws {
        let recorder = RecordingReceiver { _ in .pause }
        let transfer = transport.start(
            peers.request(.nginxTLS12, "/large"), receiver: recorder)
        _ = try await recorder.until { $0.chunks > 0 }
        transfer.cancel()
        #expect(try await recorder.ended().error?.code == .cancelled)
        let next = try await transport.run(peers.request(.nginxTLS12))
        #expect(next.error == nil, "\(next.errorText)")
        #expect(next.end?.timings.reusedConnection == false)
    }
}
