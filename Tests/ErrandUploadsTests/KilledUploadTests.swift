#if os(Linux)
    import ErrandTesting
    import Foundation
    import Synchronization
    import TestSupport
    import Testing

    @testable import ErrandUploads

    /// The journal of a process that was killed during an upload, and the memory of a process that uploads.
    @Suite(.limited)
    struct KilledUploadTests {
        /// Uploads in pieces, and kills its process before the request with this number.
        final class DeadlyUpload: ResumableUploadRequest {
            let last: Int

            init(_ url: String, file: URL, killsBefore last: Int) {
                self.last = last
                super.init(EndpointURL(raw: url), file: file)
            }

            override var pieceSize: Int64? { 3000 }
            override func configure(_ request: inout RequestDescription) {
                super.configure(&request)
                request.requestProcessors += [Killer(last: last).process]
            }

            final class Killer: Sendable {
                private let last: Int
                private let seen = Mutex(0)

                init(last: Int) { self.last = last }

                func process(
                    _ request: inout TransportRequest, of description: RequestDescription,
                    attempt: Int
                ) async throws {
                    let count = seen.withLock { seen in
                        seen += 1
                        return seen
                    }
                    if count == last { kill(getpid(), SIGKILL) }
                }
            }
        }

        /// The requests are OPTIONS, POST and four pieces.
        @Test(arguments: TransportKind.allCases, [1, 2, 3, 4, 5, 6])
        func uploadOfAKilledProcessIsContinued(
            kind: TransportKind, request number: Int
        ) async throws {
            let tus = try await TusLoopback()
            let bytes = Data((0..<10_000).map { UInt8(truncatingIfNeeded: $0 &* 11) })
            let file = try TemporaryFile(bytes)
            await #expect(processExitsWith: .signal(SIGKILL)) {
                [
                    url = tus.url as String, path = file.url.path as String,
                    kind = kind as TransportKind, number = number as Int,
                ] in
                _ = try await DeadlyUpload(
                    url, file: URL(fileURLWithPath: path), killsBefore: number
                ).value(on: RequestAgent(transport: kind.makeTransport()))
            }
            let sent = max(0, number - 3) * 3000
            #expect(tus.content.count == sent)
            let output = try await DeadlyUpload(tus.url, file: file.url, killsBefore: 0).value(
                on: RequestAgent(transport: kind.makeTransport()))
            #expect(output.resumedOffset == Int64(sent))
            #expect(haveSameBytes(tus.content, bytes))
            #expect(tus.creations == 1)
            let received = tus.server.requests.map(\.bodyBytes).reduce(0, +)
            #expect(received == 10_000)
            let folder = file.url.deletingLastPathComponent().path
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == ["body.bin"])
            await tus.server.stop()
        }

        /// The bytes arrive, but the process ends before the response.
        @Test(arguments: TransportKind.allCases)
        func bytesWithoutAResponseAreNotSentAgain(kind: TransportKind) async throws {
            let tus = try await TusLoopback()
            let bytes = Data((0..<10_000).map { UInt8(truncatingIfNeeded: $0 &* 11) })
            let file = try TemporaryFile(bytes)
            tus.fault { _, request, state in
                guard request.header("Upload-Offset") == "3000" else { return nil }
                state.content += request.body.prefix(2000)
                return .dropped
            }
            await #expect(processExitsWith: .signal(SIGKILL)) {
                [
                    url = tus.url as String, path = file.url.path as String,
                    kind = kind as TransportKind,
                ] in
                let upload = DeadlyUpload(
                    url, file: URL(fileURLWithPath: path), killsBefore: 0)
                do {
                    _ = try await upload.value(on: RequestAgent(transport: kind.makeTransport()))
                } catch {
                    kill(getpid(), SIGKILL)
                }
            }
            tus.fault(nil)
            let output = try await DeadlyUpload(tus.url, file: file.url, killsBefore: 0).value(
                on: RequestAgent(transport: kind.makeTransport()))
            #expect(output.resumedOffset == 5000)
            #expect(haveSameBytes(tus.content, bytes))
            await tus.server.stop()
        }

        /// A file of 256 MiB is sent with a few MiB of memory.
        @Test func memoryDoesNotDependOnTheSizeOfTheFile() async throws {
            let size = 256 << 20
            let tus = LoopbackServer()
            tus.route("/files/") { request in
                request.method == "POST"
                    ? LoopbackResponse(status: 201, headers: ["Location": "/files/1"])
                    : LoopbackResponse(status: 204)
            }
            tus.route("/files/1", readsBody: false) { request in
                LoopbackResponse(steps: [
                    .receiveBody(upTo: nil),
                    .head(
                        status: 204,
                        headers: [LoopbackHeader("Upload-Offset", "\(256 << 20)")]),
                ])
            }
            try await tus.start()
            let file = try TemporaryFile()
            #expect(truncate(file.url.path, off_t(size)) == 0)
            await #expect(processExitsWith: .success) {
                [url = tus.url("/files/") as String, path = file.url.path as String] in
                let agent = RequestAgent()
                let upload = ResumableUploadRequest(
                    EndpointURL(raw: url), file: URL(fileURLWithPath: path))
                let before = Self.peak()
                let output = try await upload.value(on: agent)
                let growth = Self.peak() - before
                print("peak before \(before) KiB, growth \(growth) KiB")
                #expect(output.bytes == 256 << 20)
                // A sanitizer multiplies the memory.
                #expect(before > 0 && (growth < 24 << 10 || getenv("ERRAND_SANITIZER") != nil))
            }
            let piece = tus.requests.first { $0.method == "PATCH" }
            #expect(piece?.bodyBytes == size)
            await tus.stop()
        }

        /// The greatest resident size of this process, in KiB.
        private static func peak() -> Int {
            let status = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
            let line = status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") } ?? ""
            return Int(line.filter(\.isNumber)) ?? 0
        }
    }
#endif
