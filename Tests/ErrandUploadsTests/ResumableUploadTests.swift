import ErrandTesting
import Foundation
import HTTPTypes
import Synchronization
import TestSupport
import Testing

@testable import ErrandUploads

/// Uploads over the network, to a server that fails in every way.
@Suite(.limited)
struct ResumableUploadTests {
    private typealias Upload = UploadFixture.Upload

    private let fixture: UploadFixture
    private var tus: TusLoopback { fixture.tus }
    private var file: TemporaryFile { fixture.file }
    private var bytes: Data { fixture.bytes }
    private var agent: RequestAgent { fixture.agent }
    private var names: [String] { get throws { try fixture.names } }

    init() async throws { fixture = try await UploadFixture() }

    private func upload(_ change: (Upload) -> Void = { _ in }) -> Upload {
        fixture.upload(change)
    }

    private func failure(
        _ upload: Upload, on agent: RequestAgent? = nil
    ) async -> RequestError? {
        await fixture.failure(upload, on: agent)
    }

    // MARK: - Uploads

    @Test(arguments: TransportKind.allCases)
    func fileIsUploadedInOneRequest(kind: TransportKind) async throws {
        let agent = fixture.agent(over: kind)
        let output = try await upload().value(on: agent)
        #expect(haveSameBytes(tus.content, bytes))
        #expect(tus.methods == ["OPTIONS", "POST", "PATCH"])
        #expect(output.url.string == tus.server.url("/files/1"))
        #expect(output.bytes == 10_000 && output.resumedOffset == 0)
        let create = tus.server.requests[1]
        #expect(create.header("Upload-Length") == "10000")
        #expect(create.header("Upload-Metadata") == "filename ZmlsbS5iaW4=")
        #expect(create.header("Content-Length") == "0" && create.header("Content-Type") == nil)
        let patch = tus.server.requests[2]
        #expect(patch.header("Content-Type") == "application/offset+octet-stream")
        #expect(patch.header("Content-Length") == "10000")
        #expect(try names == ["film.bin"])
        await tus.server.stop()
    }

    @Test(arguments: TransportKind.allCases)
    func emptyFileNeedsNoPiece(kind: TransportKind) async throws {
        let agent = fixture.agent(over: kind)
        let empty = try TemporaryFile(name: "empty")
        let output = try await ResumableUploadRequest(EndpointURL(raw: tus.url), file: empty.url)
            .value(on: agent)
        #expect(output.bytes == 0 && tus.methods == ["OPTIONS", "POST"])
        await tus.server.stop()
    }

    @MainActor @Test func closuresAndOutputWork() async throws {
        let upload = upload()
        let agent = agent
        let output = await withCheckedContinuation { continuation in
            upload.start(on: agent) {
                continuation.resume(returning: $0.output)
            } failure: { _, _ in
                continuation.resume(returning: nil)
            }
        }
        #expect(output?.bytes == 10_000)
        await tus.server.stop()
    }

    @Test func uploadIsAMemberOfAChain() async throws {
        let chain = ChainRequest()
        chain.add(upload())
        try await chain.send(on: agent)
        #expect(haveSameBytes(tus.content, bytes))
        await tus.server.stop()
    }

    @Test(arguments: TransportKind.allCases)
    func piecesCarryChecksums(kind: TransportKind) async throws {
        let agent = fixture.agent(over: kind)
        let output = try await upload { ($0.piece, $0.sum) = (4000, .required) }.value(on: agent)
        #expect(output.bytes == 10_000)
        let pieces = tus.server.requests.filter { $0.method == "PATCH" }
        #expect(pieces.count == 3)
        for piece in pieces {
            var hash = SHA256()
            hash.update(piece.body)
            let expected = "sha256 \(Data(hash.finalize()).base64EncodedString())"
            #expect(piece.header("Upload-Checksum") == expected)
        }
        await tus.server.stop()
    }

    @Test(arguments: TransportKind.allCases)
    func pieceThatWasDamagedIsSentAgain(kind: TransportKind) async throws {
        let agent = fixture.agent(over: kind)
        tus.fault { number, request, _ in
            request.method == "PATCH" && number == 4 ? LoopbackResponse(status: 460) : nil
        }
        _ = try await upload { ($0.piece, $0.sum) = (4000, .ifSupported) }.value(on: agent)
        #expect(haveSameBytes(tus.content, bytes))
        #expect(tus.offsets == ["0", "4000", "4000", "8000"])
        await tus.server.stop()
    }

    // MARK: - Resuming

    @Test(arguments: TransportKind.allCases)
    func failedRunIsContinuedByTheNext(kind: TransportKind) async throws {
        let agent = fixture.agent(over: kind)
        tus.fault { _, request, state in
            guard request.method == "PATCH", request.header("Upload-Offset") == "4000" else {
                return nil
            }
            state.content += request.body.prefix(1500)
            return .reset
        }
        let error = await failure(
            upload { ($0.piece, $0.policy) = (4000, RetryPolicy.none) }, on: agent)
        #expect(error?.code == .connectionLost)
        #expect(try names.count == 2)
        tus.fault(nil)
        let output = try await upload { $0.piece = 4000 }.value(on: agent)
        #expect(output.resumedOffset == 5500)
        #expect(haveSameBytes(tus.content, bytes))
        #expect(tus.offsets == ["0", "4000", "5500", "9500"])
        #expect(tus.creations == 1)
        #expect(try names == ["film.bin"])
        await tus.server.stop()
    }

    @Test(arguments: TransportKind.allCases)
    func interruptionIsContinuedWithinARun(kind: TransportKind) async throws {
        let agent = fixture.agent(over: kind)
        tus.fault { number, request, state in
            guard request.method == "PATCH", state.content.count < 9000 else { return nil }
            state.content += request.body.prefix(1000)
            return number % 2 == 0 ? .reset : .dropped
        }
        _ = try await upload().value(on: agent)
        #expect(haveSameBytes(tus.content, bytes))
        #expect(tus.offsets == (0...9).map { "\($0 * 1000)" })
        await tus.server.stop()
    }

    @Test(arguments: TransportKind.allCases)
    func progressCountsFromTheResumedOffset(kind: TransportKind) async throws {
        let agent = fixture.agent(over: kind)
        tus.fault { _, request, state in
            guard request.method == "PATCH" else { return nil }
            state.content += request.body.prefix(6000)
            return .reset
        }
        _ = await failure(upload { $0.policy = RetryPolicy.none }, on: agent)
        tus.fault(nil)
        let seen = Mutex<[TransferProgress]>([])
        let next = upload { $0.piece = 1000 }
        _ = try await next.value(on: agent) { task in
            task.onProgress { progress in seen.withLock { $0.append(progress) } }
        }
        let values = seen.withLock { $0 }
        #expect(values.last?.bytesSent == 10_000)
        #expect(values.allSatisfy { $0.totalBytesToSend == 10_000 && $0.bytesSent <= 10_000 })
        #expect(zip(values, values.dropFirst()).allSatisfy { $0.bytesSent <= $1.bytesSent })
        await tus.server.stop()
    }

    @Test(arguments: TransportKind.allCases)
    func completeUploadIsReportedWithoutAPiece(kind: TransportKind) async throws {
        let agent = fixture.agent(over: kind)
        tus.fault { _, request, state in
            guard request.method == "PATCH" else { return nil }
            state.content += request.body
            return .reset
        }
        _ = await failure(upload { $0.policy = RetryPolicy.none }, on: agent)
        tus.fault(nil)
        let last = Mutex<TransferProgress?>(nil)
        let next = upload()
        let output = try await next.value(on: agent) { task in
            task.onProgress { progress in last.withLock { $0 = progress } }
        }
        #expect(output.resumedOffset == 10_000)
        #expect(tus.offsets == ["0"])
        #expect(last.withLock { $0?.fractionSent } == 1)
        await tus.server.stop()
    }

    @Test(arguments: TransportKind.allCases)
    func cancelledUploadCanBeResumed(kind: TransportKind) async throws {
        let agent = fixture.agent(over: kind)
        let gate = Gate()
        tus.fault { _, request, state in
            guard request.method == "PATCH", request.header("Upload-Offset") == "4000" else {
                return nil
            }
            return .silence(until: gate)
        }
        let description = upload { $0.piece = 4000 }.makeDescription()
        let task = agent.start(description)
        try await gate.reached()
        task.cancel()
        let error = await #expect(throws: RequestError.self) { try await task.response() }
        #expect(error?.isCancellation == true)
        gate.open()
        tus.fault(nil)
        let output = try await upload { $0.piece = 4000 }.value(on: agent)
        #expect(output.resumedOffset == 4000)
        #expect(haveSameBytes(tus.content, bytes))
        #expect(tus.creations == 1)
        await tus.server.stop()
    }

    /// The last response has arrived, but the task ends as cancelled.
    @Test func uploadThatWasCancelledAtItsEndIsNotSentAgain() async throws {
        let methods = Mutex<[HTTPMethod]>([])
        let received = Mutex(0)
        func run() async throws {
            let description = upload().makeDescription()
            let next = TransportRequest.Next(description: description) { request in
                methods.withLock { $0.append(request.method) }
                var headers = HTTPFields()
                if request.method == .post { headers[.location] = "http://a/files/1" }
                if request.method == .patch {
                    received.withLock { $0 = 10_000 }
                    withUnsafeCurrentTask { $0?.cancel() }
                }
                headers[HTTPField.Name("Upload-Offset")!] = "\(received.withLock { $0 })"
                return Response(
                    status: request.method == .post ? .created : .noContent, headers: headers,
                    url: request.url)
            }
            let request = TransportRequest(
                method: .post, url: HTTPURL(scheme: "http", host: "a", path: "/files"))
            let operation = try #require(description.interceptors.last as? UploadOperation)
            _ = try await Task { try await operation.intercept(request, next: next) }.value
            #expect(operation.output?.bytes == 10_000)
        }
        try await run()
        #expect(methods.withLock { $0 } == [.options, .post, .patch])
        try await run()
        #expect(methods.withLock { $0 } == [.options, .post, .patch, .head])
        // The second run was not cancelled, so that a third one would be a new upload.
        #expect(try names == ["film.bin"])
        await tus.server.stop()
    }

    @Test(arguments: TransportKind.allCases)
    func goneUploadIsCreatedAgain(kind: TransportKind) async throws {
        let agent = fixture.agent(over: kind)
        tus.fault { number, _, state in
            guard number == 4 else { return nil }
            state.length = nil
            return LoopbackResponse(status: 410)
        }
        let output = try await upload { $0.piece = 4000 }.value(on: agent)
        #expect(output.resumedOffset == 0)
        #expect(tus.creations == 2)
        #expect(haveSameBytes(tus.content, bytes))
        await tus.server.stop()
    }

    @Test(arguments: TransportKind.allCases)
    func changedFileIsUploadedAnew(kind: TransportKind) async throws {
        let agent = fixture.agent(over: kind)
        tus.fault { _, request, _ in request.method == "PATCH" ? .reset : nil }
        _ = await failure(upload { $0.policy = RetryPolicy.none }, on: agent)
        tus.fault(nil)
        let changed = Data(bytes.reversed())
        try changed.write(to: file.url)
        let refused = await failure(upload { $0.overs = false }, on: agent)
        #expect(refused?.code == .resumeFailed)
        _ = try await upload().value(on: agent)
        #expect(haveSameBytes(tus.content, changed))
        #expect(tus.removals == 1 && tus.creations == 2)
        await tus.server.stop()
    }

    @Test func changedMetadataReplacesTheUpload() async throws {
        tus.fault { _, request, _ in request.method == "PATCH" ? .reset : nil }
        _ = await failure(upload { $0.policy = RetryPolicy.none })
        tus.fault(nil)
        _ = try await upload { $0.data = ["filename": "other"] }.value(on: agent)
        #expect(tus.removals == 1 && tus.creations == 2)
        await tus.server.stop()
    }

    // MARK: - Discarding

    @Test(arguments: TransportKind.allCases)
    func discardRemovesUploadAndJournal(kind: TransportKind) async throws {
        let agent = fixture.agent(over: kind)
        tus.fault { _, request, _ in request.method == "PATCH" ? .reset : nil }
        let upload = upload { $0.policy = RetryPolicy.none }
        _ = await failure(upload, on: agent)
        tus.fault(nil)
        #expect(try await upload.discard(on: agent))
        #expect(tus.removals == 1)
        #expect(try names == ["film.bin"])
        let requests = tus.methods.count
        #expect(try await upload.discard(on: agent) == false)
        #expect(tus.methods.count == requests)
        await tus.server.stop()
    }

    @Test(arguments: [(404, true), (405, false)])
    func discardWithoutTermination(status: Int, isGone: Bool) async throws {
        tus.fault { _, request, _ in
            switch request.method {
            case "PATCH": .reset
            case "DELETE": LoopbackResponse(status: status)
            default: nil
            }
        }
        let upload = upload { $0.policy = RetryPolicy.none }
        _ = await failure(upload)
        #expect(try await upload.discard(on: agent) == isGone)
        #expect(try names == ["film.bin"])
        await tus.server.stop()
    }

    @Test func failedDiscardKeepsTheJournal() async throws {
        tus.fault { _, request, _ in
            ["PATCH", "DELETE"].contains(request.method) ? LoopbackResponse(status: 403) : nil
        }
        let upload = upload()
        _ = await failure(upload)
        await #expect(throws: RequestError.self) { try await upload.discard(on: agent) }
        #expect(try names.count == 2)
        await tus.server.stop()
    }

    // MARK: - Refusals

    @Test func tooLargeFileIsRefusedBeforeAnythingIsUploaded() async throws {
        tus.change { $0.maximumSize = 9999 }
        #expect(await failure(upload())?.code == .bodyTooLarge)
        #expect(tus.methods == ["OPTIONS"])
        #expect(try names == ["film.bin"])
        await tus.server.stop()
    }

    /// The server refuses a piece at its head: the rest is not sent.
    @Test(arguments: TransportKind.allCases)
    func earlyRefusalEndsTheUpload(kind: TransportKind) async throws {
        let agent = fixture.agent(over: kind)
        tus.server.route("/files/1", readsBody: false) { _ in LoopbackResponse(status: 413) }
        let size = 64 << 20
        #expect(truncate(file.url.path, off_t(size)) == 0)
        let sent = Mutex<Int64>(0)
        let refused = upload()
        let error = await #expect(throws: RequestError.self) {
            try await refused.value(on: agent) { task in
                task.onProgress { progress in sent.withLock { $0 = progress.bytesSent } }
            }
        }
        #expect(error?.code == .bodyTooLarge)
        #expect(tus.methods == ["OPTIONS", "POST", "PATCH"])
        #expect(sent.withLock { $0 } < size / 2)
        await tus.server.stop()
    }

    @Test func lyingServerFailsTheUpload() async throws {
        tus.fault { _, request, _ in
            request.method == "PATCH"
                ? LoopbackResponse(status: 204, headers: ["Upload-Offset": "10000"]) : nil
        }
        #expect(await failure(upload { $0.piece = 4000 })?.code == .resumeFailed)
        tus.fault { _, request, _ in
            request.method == "HEAD"
                ? LoopbackResponse(status: 200, headers: ["Upload-Offset": "10000"]) : nil
        }
        #expect(await failure(upload { $0.piece = 4000 })?.code == .resumeFailed)
        await tus.server.stop()
    }

    @Test func overridesWithoutMeaningAreRefused() async throws {
        let reserved = upload {
            $0.fields = [HTTPField.Name("Upload-Offset") ?? .accept: "4"]
        }
        #expect(await failure(reserved)?.code == .invalidCombination)
        #expect(await failure(upload { $0.piece = 0 })?.code == .invalidConfiguration)
        #expect(await failure(upload { $0.rate = 0 })?.code == .invalidConfiguration)
        #expect(await failure(upload { $0.data = ["a b": ""] })?.code == .invalidHeader)
        let missing = Upload(EndpointURL(raw: tus.url), file: file.url.appendingPathExtension("no"))
        #expect(await failure(missing)?.code == .invalidBody)
        #expect(tus.methods.isEmpty)
        await tus.server.stop()
    }
}
