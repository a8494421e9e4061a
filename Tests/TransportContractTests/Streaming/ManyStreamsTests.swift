#if os(Linux)
    import ErrandCore
    import ErrandTesting
    import ErrandTransport
    import Foundation
    import Glibc
    import TestSupport
    import Testing

    /// A thousand open streams of one agent; 250 over URLSession, because FoundationNetworking (Swift 6.3.1) needs half a
    /// minute for a thousand.
    ///
    /// In a separate process, in which nothing else allocates.
    @Suite("Streams: many at once", .limited, .serialized)
    struct ManyStreamsTests {
        /// The limit of memory growth for each stream, with the thread and the buffers of the server.
        ///
        /// A debug build needs 95 to 121 KiB, of which the server's buffer is 64 KiB.
        private static let bytesPerStream = 256 << 10

        private struct Failure: Error {
            let message: String

            init(_ message: String) {
                self.message = message
                FileHandle.standardError.write(Data("\(message)\n".utf8))
            }
        }

        /// Throws, and so ends the process with an error, unless each of the streams receives its event.
        private static func open(_ count: Int, _ kind: TransportKind) async throws {
            ProcessResources.raiseLimit(to: 8192)
            try await StreamFixture.with(kind) { fixture async throws in
                let (start, end) = (Gate(), Gate())
                fixture.server.otherwise { request in
                    .events([": open", "data: \(request.path)"], gates: [start, end])
                }
                let before = ProcessResources.residentBytes()
                var streams: [StreamFixture.Opened] = []
                for number in 0..<count { streams.append(try await fixture.open("/\(number)")) }
                guard fixture.server.status.open == count, fixture.agent.activeTasks.count == count
                else { throw Failure("\(fixture.server.status)") }
                start.open()
                for (number, stream) in streams.enumerated() {
                    let expected = Data(": open\n\ndata: /\(number)\n\n".utf8)
                    let bytes = try await stream.read(expected.count)
                    guard bytes == expected else {
                        throw Failure("stream \(number): \(String(decoding: bytes, as: UTF8.self))")
                    }
                }
                let grown = ProcessResources.residentBytes() - before
                // Sanitizers allocate memory for every access.
                guard getenv("ERRAND_SANITIZER") != nil || grown < count * bytesPerStream else {
                    throw Failure("\(grown / count) bytes for each stream")
                }
                streams = []
                try await fixture.server.until { $0.open == 0 }
            }
        }

        @Test func curlReceivesAllEvents() async {
            await #expect(processExitsWith: .success) { try await Self.open(1000, .curl) }
        }

        @Test func urlSessionReceivesAllEvents() async {
            await #expect(processExitsWith: .success) { try await Self.open(250, .urlSession) }
        }
    }
#endif
