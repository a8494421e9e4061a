import ErrandTesting
import Foundation
import HTTPTypes
import TestSupport
import Testing

@testable import ErrandUploads

/// Responses over the network after which an upload continues, and its bandwidth limit.
@Suite(.limited)
struct UploadRecoveryTests {
    private typealias Upload = UploadFixture.Upload

    private let fixture: UploadFixture
    private var tus: TusLoopback { fixture.tus }
    private var bytes: Data { fixture.bytes }
    private var agent: RequestAgent { fixture.agent }

    init() async throws { fixture = try await UploadFixture() }

    private func upload(_ change: (Upload) -> Void = { _ in }) -> Upload {
        fixture.upload(change)
    }

    private func failure(
        _ upload: Upload, on agent: RequestAgent? = nil
    ) async -> RequestError? {
        await fixture.failure(upload, on: agent)
    }

    private func count(of method: String) -> Int { tus.methods.filter { $0 == method }.count }

    // MARK: - Discovery and creation

    @Test(arguments: TransportKind.allCases, [403, 404, 405])
    func serverThatRefusesOptionsIsUsed(kind: TransportKind, status: Int) async throws {
        let agent = fixture.agent(over: kind)
        tus.fault { _, request, _ in
            request.method == "OPTIONS" ? LoopbackResponse(status: status) : nil
        }
        _ = try await upload().value(on: agent)
        #expect(tus.methods == ["OPTIONS", "POST", "PATCH"])
        #expect(haveSameBytes(tus.content, bytes))
        await tus.server.stop()
    }

    @Test(arguments: TransportKind.allCases, [429, 503])
    func postponedCreationIsSentAgainAfterThePauseOfTheServer(
        kind: TransportKind, status: Int
    ) async throws {
        tus.fault { number, request, _ in
            request.method == "POST" && number < 4
                ? LoopbackResponse(status: status, headers: ["Retry-After": "7"]) : nil
        }
        let output = try await fixture.value(
            upload(), over: kind, on: ManualClock(), by: .seconds(7))
        #expect(output.duration == .seconds(14))
        #expect(tus.methods == ["OPTIONS", "POST", "POST", "POST", "PATCH"])
        #expect(tus.creations == 1)
        #expect(haveSameBytes(tus.content, bytes))
        await tus.server.stop()
    }

    @Test func postponedCreationIsLimitedByThePolicy() async throws {
        tus.fault { _, request, _ in
            request.method == "POST"
                ? LoopbackResponse(status: 503, headers: ["Retry-After": "0"]) : nil
        }
        #expect(await failure(upload())?.status == .serviceUnavailable)
        #expect(count(of: "POST") == 3)
        // The retry step repeats requests with a key: the run does not multiply its attempts.
        let keyed = upload {
            $0.policy = RetryPolicy(
                maximumAttempts: 2, baseDelay: .milliseconds(1), sendsIdempotencyKey: true)
        }
        #expect(await failure(keyed)?.status == .serviceUnavailable)
        #expect(count(of: "POST") == 5)
        #expect(try fixture.names == ["film.bin"])
        await tus.server.stop()
    }

    /// The server may have created an upload.
    @Test func creationWithoutAClearRefusalIsSentOnce() async throws {
        let faults = [
            LoopbackResponse(status: 503), LoopbackResponse(status: 429),
            LoopbackResponse(status: 500, headers: ["Retry-After": "0"]), .reset, .dropped,
        ]
        for (index, fault) in faults.enumerated() {
            tus.fault { _, request, _ in request.method == "POST" ? fault : nil }
            #expect(await failure(upload()) != nil)
            #expect(count(of: "POST") == index + 1, "fault \(index)")
        }
        await tus.server.stop()
    }

    // MARK: - Offsets and locks

    /// The server has lost bytes, or has received more than its response reported.
    @Test(arguments: TransportKind.allCases, [2500, 5500])
    func mismatchOfTheOffsetContinuesAtThatOfTheServer(
        kind: TransportKind, offset: Int
    ) async throws {
        let agent = fixture.agent(over: kind)
        let bytes = bytes
        tus.fault { number, _, state in
            // Then the server itself refuses the second piece, with status 409.
            if number == 4 { state.content = Data(bytes.prefix(offset)) }
            return nil
        }
        let output = try await upload { $0.piece = 4000 }.value(on: agent)
        #expect(output.resumedOffset == 0)
        #expect(tus.offsets == ["0", "4000", "\(offset)", "\(offset + 4000)"])
        #expect(
            tus.methods == ["OPTIONS", "POST", "PATCH", "PATCH", "HEAD", "PATCH", "PATCH"])
        #expect(haveSameBytes(tus.content, bytes))
        await tus.server.stop()
    }

    @Test(arguments: TransportKind.allCases)
    func repeatedMismatchOfTheOffsetEndsTheRun(kind: TransportKind) async throws {
        let agent = fixture.agent(over: kind)
        tus.fault { _, request, _ in
            request.method == "PATCH" ? LoopbackResponse(status: 409) : nil
        }
        #expect(await failure(upload(), on: agent)?.code == .resumeFailed)
        #expect(count(of: "PATCH") == TusUploadState.maximumConflicts + 1)
        #expect(count(of: "HEAD") == TusUploadState.maximumConflicts)
        await tus.server.stop()
    }

    @Test(arguments: TransportKind.allCases)
    func lockedUploadIsRetriedAfterThePauseOfTheServer(kind: TransportKind) async throws {
        tus.fault { number, _, _ in
            // The second piece, and the request for the offset after it.
            number == 4 || number == 5
                ? LoopbackResponse(status: 423, headers: ["Retry-After": "5"]) : nil
        }
        let output = try await fixture.value(
            upload { $0.piece = 4000 }, over: kind, on: ManualClock(), by: .seconds(5))
        #expect(output.duration == .seconds(10))
        #expect(tus.offsets == ["0", "4000", "4000", "8000"])
        #expect(
            tus.methods
                == ["OPTIONS", "POST", "PATCH", "PATCH", "HEAD", "HEAD", "PATCH", "PATCH"])
        #expect(haveSameBytes(tus.content, bytes))
        await tus.server.stop()
    }

    @Test(arguments: TransportKind.allCases)
    func lockIsRetriedByThePolicyAndTheNextRunContinues(kind: TransportKind) async throws {
        let agent = fixture.agent(over: kind)
        tus.fault { _, request, _ in
            request.header("Upload-Offset") == "4000" ? LoopbackResponse(status: 423) : nil
        }
        let error = await failure(upload { $0.piece = 4000 }, on: agent)
        #expect(error?.code == .unacceptableStatus && error?.status?.code == 423)
        #expect(tus.offsets == ["0", "4000", "4000", "4000"])
        tus.fault(nil)
        #expect(try await upload().value(on: agent).resumedOffset == 4000)
        #expect(haveSameBytes(tus.content, bytes))
        await tus.server.stop()
    }

    // MARK: - Expiry

    /// Interrupts an upload after 4000 bytes; by the clock of this device it has expired then.
    private func expire() async {
        tus.fault { _, request, state in
            guard request.method == "PATCH" else { return nil }
            guard state.content.isEmpty else { return .reset }
            state.content += request.body
            return LoopbackResponse(
                status: 204,
                headers: [
                    "Upload-Offset": "4000", "Upload-Expires": "Wed, 25 Jun 2014 16:00:00 GMT",
                ])
        }
        let upload = upload { ($0.piece, $0.policy) = (4000, RetryPolicy.none) }
        #expect(await failure(upload)?.code == .connectionLost)
        tus.fault(nil)
    }

    @Test(arguments: [true, false])
    func uploadThatTheServerKeepsIsContinuedAfterItsExpiry(startsOver: Bool) async throws {
        await expire()
        let output = try await upload { $0.overs = startsOver }.value(on: agent)
        #expect(output.resumedOffset == 4000)
        #expect(Array(tus.methods.suffix(2)) == ["HEAD", "PATCH"])
        #expect(tus.creations == 1)
        #expect(haveSameBytes(tus.content, bytes))
        await tus.server.stop()
    }

    @Test func uploadThatTheServerRemovedIsCreatedAgain() async throws {
        await expire()
        tus.change { $0.length = nil }
        #expect(await failure(upload { $0.overs = false })?.code == .resumeFailed)
        #expect(tus.methods.last == "HEAD")
        let output = try await upload().value(on: agent)
        #expect(output.resumedOffset == 0)
        #expect(Array(tus.methods.suffix(4)) == ["HEAD", "OPTIONS", "POST", "PATCH"])
        #expect(tus.creations == 2)
        #expect(haveSameBytes(tus.content, bytes))
        await tus.server.stop()
    }

    // MARK: - Checksums

    @Test(arguments: TransportKind.allCases)
    func repeatedMismatchOfTheChecksumEndsTheRun(kind: TransportKind) async throws {
        let agent = fixture.agent(over: kind)
        tus.fault { _, request, _ in
            request.header("Upload-Offset") == "4000" ? LoopbackResponse(status: 460) : nil
        }
        let error = await failure(upload { ($0.piece, $0.sum) = (4000, .required) }, on: agent)
        #expect(error?.code == .digestMismatch)
        #expect(tus.offsets == ["0", "4000", "4000", "4000"])
        let sums = tus.server.requests.compactMap { $0.header("Upload-Checksum") }
        #expect(sums.count == 4 && Set(sums).count == 2)
        #expect(tus.content.count == 4000)
        tus.fault(nil)
        let output = try await upload { $0.sum = .required }.value(on: agent)
        #expect(output.resumedOffset == 4000)
        #expect(haveSameBytes(tus.content, bytes))
        await tus.server.stop()
    }

    // MARK: - Bandwidth

    /// Ten chunks of an eighth of a second each, which are counted before they are sent.
    @Test(arguments: TransportKind.allCases, [nil, 4000] as [Int64?])
    func bytesAreSentNoFasterThanTheLimit(kind: TransportKind, piece: Int64?) async throws {
        let output = try await fixture.value(
            upload { ($0.piece, $0.rate) = (piece, 8000) }, over: kind, on: ManualClock(),
            by: .milliseconds(125))
        #expect(output.duration == .milliseconds(1250))
        #expect(haveSameBytes(tus.content, bytes))
        await tus.server.stop()
    }

    @Test(arguments: TransportKind.allCases)
    func uploadWithoutALimitDoesNotWait(kind: TransportKind) async throws {
        let output = try await fixture.value(
            upload { $0.piece = 4000 }, over: kind, on: ManualClock(), by: .milliseconds(125))
        #expect(output.duration == .zero)
        await tus.server.stop()
    }
}
