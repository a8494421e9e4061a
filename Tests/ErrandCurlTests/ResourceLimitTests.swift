import ErrandCore
import ErrandCurl
import ErrandTesting
import ErrandTransport
import Foundation
import Glibc
import TestSupport
import Testing

/// Exhausted resources and decompression bombs, each in a separate process.
@Suite("Resource limits", .limited)
struct ResourceLimitTests {
    @Test func exhaustedDescriptorsAreReported() async {
        await #expect(processExitsWith: .success) {
            let server = try RawServer { connection in
                while connection.readHead() != nil { connection.respond("hello") }
            }
            let transport = CurlTransport()
            // A kept connection needs no further descriptor.
            let first = try await transport.run(.get, server.url())
            ProcessResources.allowNoMoreDescriptors()
            let kept = try await transport.run(.get, server.url())
            let other = try await transport.run(.get, "http://127.0.0.2:\(server.port)/")
            guard first.error == nil, kept.error == nil else { exit(3) }
            guard other.error?.code == .transportFailed,
                other.error?.message.contains("descriptor") == true
            else { exit(4) }
        }
    }

    /// A gigabyte of zeros in gzip, with default settings.
    @Test(arguments: [1, 9]) func decompressionBombIsStoppedByDefault(level: Int) async {
        await #expect(processExitsWith: .success) { [level = level as Int] in
            let part = try ZlibBodyEncoder(.gzip, level: level).encode(Data(count: 64 << 20))
            let server = try RawServer { connection in
                guard connection.readHead() != nil else { return }
                connection.write(
                    "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: \(16 * part.count)\r\n\r\n"
                )
                for _ in 0..<16 where !connection.write(Array(part)) { return }
            }
            let before = ResourceLimitTests.peakKilobytes()
            let request = TransportRequest(url: try HTTPURL.test(server.url()))
            let recorder = RecordingReceiver(keepsBody: false) { _ in .more }
            let transport = CurlTransport()
            _ = transport.start(request, receiver: recorder)
            let record = try await recorder.ended()
            guard record.error?.code == .bodyTooLarge,
                ResourceLimitTests.peakKilobytes() - before < 64 << 10
            else {
                print(
                    "\(String(describing: record.error)) \(ResourceLimitTests.peakKilobytes() - before)"
                )
                exit(3)
            }
        }
    }

    /// Highly compressible JSON of a few megabytes is accepted.
    @Test func highlyCompressibleJSONIsAccepted() async throws {
        let row = #"{"id":null,"name":null,"tags":[],"active":false,"parent":null},"#
        let body = Data(("[" + String(repeating: row, count: 60_000) + "null]").utf8)
        let encoded = Array(try ZlibBodyEncoder(.gzip, level: 9).encode(body))
        #expect(body.count / encoded.count > 200)
        let server = try RawServer { connection in
            guard connection.readHead() != nil else { return }
            connection.write(
                "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: \(encoded.count)\r\n\r\n"
            )
            connection.write(encoded)
        }
        let record = try await CurlTransport().run(.get, server.url())
        #expect(record.error == nil)
        #expect(haveSameBytes(record.body, body))
    }

    /// The peak resident size of this process.
    private static func peakKilobytes() -> Int {
        var usage = rusage()
        getrusage(RUSAGE_SELF.rawValue, &usage)
        return usage.ru_maxrss
    }
}
