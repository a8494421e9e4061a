import CLibcurl
import ErrandCore
import ErrandCurl
import ErrandTesting
import ErrandTransport
import Foundation
import HTTPTypes
import Synchronization
import TestSupport
import Testing

/// HTTP/2 responses without a length that break off before END_STREAM (RFC 9113 §8.1).
@Suite(.limited)
struct TruncatedStreamTests {
    /// The way in which the response ends.
    enum Ending: String, CaseIterable, Sendable, CustomTestStringConvertible {
        case whole, wholeThenClosed, wholeAfterGoAway
        case closed, reset, goAway, cancelled, refused
        case stopped, garbage

        var testDescription: String { rawValue }

        func write(to connection: RawConnection, _ stream: UInt32) {
            switch self {
            case .whole, .wholeThenClosed: end(connection, stream)
            case .wholeAfterGoAway:
                goAway(connection, stream)
                end(connection, stream)
            case .closed: connection.close()
            case .reset: connection.reset()
            case .goAway:
                goAway(connection, stream)
                connection.close()
            case .cancelled: reset(connection, stream, 8)
            case .refused: reset(connection, stream, 7)
            case .stopped: reset(connection, stream, 0)
            case .garbage:
                // DATA on stream 0.
                connection.write(RawFrame(kind: RawFrame.Kind.data, payload: [0x78]))
            }
            if self == .wholeThenClosed { connection.close() }
        }

        private func end(_ connection: RawConnection, _ stream: UInt32) {
            connection.write(
                RawFrame(kind: RawFrame.Kind.data, flags: RawFrame.endOfStream, stream: stream))
        }

        private func reset(_ connection: RawConnection, _ stream: UInt32, _ code: UInt32) {
            connection.write(
                RawFrame(
                    kind: RawFrame.Kind.reset, stream: stream, payload: RawFrame.number(code)))
        }

        private func goAway(_ connection: RawConnection, _ stream: UInt32) {
            connection.write(
                RawFrame(
                    kind: RawFrame.Kind.goAway,
                    payload: RawFrame.number(stream) + RawFrame.number(0)))
        }
    }

    /// A server whose response ends in this way after the semaphore was signalled.
    private func server(_ ending: Ending, after hasBegun: DispatchSemaphore) throws -> RawServer {
        try RawServer { connection in
            guard connection.exchangePrefaces(), let stream = connection.readRequest() else {
                return
            }
            connection.write(
                RawFrame(
                    kind: RawFrame.Kind.headers, flags: RawFrame.endOfHeaders, stream: stream,
                    payload: RawFrame.status200))
            connection.write(
                RawFrame(kind: RawFrame.Kind.data, stream: stream, payload: Array("xxxx".utf8)))
            // Unread input would turn a close into a reset.
            connection.readSettingsAcknowledgement()
            hasBegun.wait()
            ending.write(to: connection, stream)
            connection.waitForClose()
        }
    }

    /// Runs a request whose response ends in this way after its first bytes were received.
    private func run(
        _ ending: Ending, _ method: HTTPMethod = .get
    ) async throws -> RecordingReceiver.Record {
        let hasBegun = DispatchSemaphore(value: 0)
        let server = try server(ending, after: hasBegun)
        var request = TransportRequest(method: method, url: try .test(server.url()))
        request.options.httpVersion = .http2PriorKnowledge
        request.options.mayReplay = method.isIdempotent
        request.timeouts.idle = .seconds(200)
        let recorder = RecordingReceiver()
        _ = CurlTransport().start(request, receiver: recorder)
        try await recorder.until { $0.received > 0 || $0.end != nil }
        hasBegun.signal()
        return try await recorder.ended()
    }

    @Test(
        arguments: [Ending.whole, .wholeThenClosed, .wholeAfterGoAway], [HTTPMethod.get, .post])
    func wholeResponseSucceeds(ending: Ending, method: HTTPMethod) async throws {
        let record = try await run(ending, method)
        #expect(record.error == nil, "\(record.errorText)")
        #expect(record.text == "xxxx")
    }

    @Test(arguments: [Ending.closed, .goAway], [HTTPMethod.get, .post])
    func closedConnectionTruncates(ending: Ending, method: HTTPMethod) async throws {
        let record = try await run(ending, method)
        #expect(record.error?.code == .truncatedBody, "\(record.errorText)")
        #expect(record.text == "xxxx")
    }

    @Test(arguments: [Ending.reset, .cancelled, .refused], [HTTPMethod.get, .post])
    func resetIsConnectionLost(ending: Ending, method: HTTPMethod) async throws {
        let record = try await run(ending, method)
        #expect(record.error?.code == .connectionLost, "\(record.errorText)")
        #expect(record.text == "xxxx")
    }

    /// libcurl 7.88 reports RST_STREAM with NO_ERROR, and the end of a connection because of a
    /// malformed frame, as it reports END_STREAM; later versions report an error.
    @Test(arguments: [Ending.stopped, .garbage])
    func endThatLibcurlHidesIsAccepted(ending: Ending) async throws {
        let shown = try await libcurl(ending)
        let record = try await run(ending)
        #expect((record.error == nil) == (shown.code == CURLE_OK), "\(record.errorText)")
        if shown.code == CURLE_OK, ending == .stopped {
            let whole = try await libcurl(.whole)
            #expect(whole.code == CURLE_OK)
            #expect(shown.texts == whole.texts)
        }
    }

    /// What libcurl itself shows of the end of a response: its result, and the texts that follow
    /// the first bytes of the body.
    private func libcurl(_ ending: Ending) async throws -> (code: CURLcode, texts: [String]) {
        let hasBegun = DispatchSemaphore(value: 0)
        let server = try server(ending, after: hasBegun)
        let url = server.url()
        return await withCheckedContinuation { continuation in
            Thread.detachNewThread {
                let log = LibcurlLog(hasBegun)
                let code = log.perform(url)
                withExtendedLifetime(server) {}
                continuation.resume(returning: (code, log.texts))
            }
        }
    }
}

/// The texts of libcurl's debug function after the first bytes of a body.
private final class LibcurlLog {
    private let hasBegun: DispatchSemaphore
    private var isOpen = false
    private(set) var texts: [String] = []

    init(_ hasBegun: DispatchSemaphore) { self.hasBegun = hasBegun }

    /// Performs a GET request over HTTP/2 with prior knowledge.
    func perform(_ url: String) -> CURLcode {
        let context = Unmanaged.passUnretained(self).toOpaque()
        guard let handle = curl_easy_init() else { return CURLE_FAILED_INIT }
        defer { curl_easy_cleanup(handle) }
        errand_set_string(handle, CURLOPT_URL, url)
        errand_set_long(handle, CURLOPT_HTTP_VERSION, CURL_HTTP_VERSION_2_PRIOR_KNOWLEDGE)
        errand_set_long(handle, CURLOPT_VERBOSE, 1)
        errand_set_pointer(handle, CURLOPT_WRITEDATA, context)
        errand_set_pointer(handle, CURLOPT_DEBUGDATA, context)
        errand_set_data_callback(handle, CURLOPT_WRITEFUNCTION) { _, size, count, context in
            LibcurlLog.of(context)?.begin()
            return size * count
        }
        errand_set_debug_callback(handle) { _, type, bytes, count, context in
            guard type == CURLINFO_TEXT else { return 0 }
            let text = UnsafeRawBufferPointer(start: bytes, count: count)
            LibcurlLog.of(context)?.add(String(decoding: text, as: UTF8.self))
            return 0
        }
        return curl_easy_perform(handle)
    }

    private static func of(_ context: UnsafeMutableRawPointer?) -> LibcurlLog? {
        context.map { Unmanaged<LibcurlLog>.fromOpaque($0).takeUnretainedValue() }
    }

    private func begin() {
        if !isOpen { hasBegun.signal() }
        isOpen = true
    }

    private func add(_ text: String) { if isOpen { texts.append(text) } }
}
