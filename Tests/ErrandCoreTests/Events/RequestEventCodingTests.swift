import Foundation
import HTTPTypes
import TestSupport
import Testing

@testable import ErrandCore

/// The JSON form of events.
@Suite(.limited) struct RequestEventCodingTests {
    private static let taskID = UUID()

    private static func kinds() throws -> [RequestEvent.Kind] {
        var timings = AttemptTimings()
        timings.queued = .microseconds(3)
        timings.firstByte = .nanoseconds(123_456_789)
        timings.finished = .seconds(2)
        (timings.bytesSent, timings.bytesReceived, timings.headBytesReceived) = (1, 2, 3)
        timings.reusedConnection = true
        var error = RequestError(.timedOut, stage: .transport, "Too slow.", timeout: .idle)
        error.endpoint = "GetUser"
        error.method = .put
        error.url = try HTTPURL(parsing: "https://api.example.com/users")
        error.attempts = 2
        error.timings = timings
        error.previousErrors = [RequestError(.cannotConnect, stage: .transport, "Refused.")]
        error.underlying = RequestError(.cannotFindHost, stage: .transport, "Unknown.")
        let connection = Response.Connection(
            id: 7, host: "api.example.com", port: 443, remoteAddress: "192.0.2.1:443",
            isSecure: true, httpVersion: .http2)
        let mismatch = PinMismatch(host: "a.example", seen: ["x", "y"], isReportOnly: true)
        var progress = TransferProgress()
        (progress.bytesSent, progress.totalBytesToSend) = (1, 2)
        (progress.bytesReceived, progress.totalBytesToReceive) = (3, 1 << 40)
        (progress.resumedBytes, progress.bytesReceivedPerSecond) = (1, 2.5)
        return [
            .started,
            .adapted(method: .post, url: try HTTPURL(parsing: "https://api.example.com/users")),
            .joined,
            .cacheHit(age: .milliseconds(1500), source: .revalidated), .cacheMiss(.expired),
            .storedResponseKept(error), .cacheStored(bytes: 17), .cacheWriteFailed(error),
            .cacheNotStored(.refusedByClosure), .cacheEvicted(entries: 3), .storeProblem(error),
            .suspended, .continued, .cancelled, .waitingForConnectivity, .queued,
            .dequeued(after: .seconds(1)), .rateLimited(for: .nanoseconds(9)),
            .requestBodySent(attempt: 1, bytes: 1 << 40), .bodyReceived(attempt: 2, bytes: 5),
            .transferStarted(attempt: 1, url: try HTTPURL(parsing: "https://a.example/")),
            .informational(attempt: 1, HTTPResponse.Status(code: 103)),
            .phase(attempt: 1, .secured, after: .microseconds(7)),
            .transferEnded(attempt: 1, timings, error), .transferEnded(attempt: 1, timings, nil),
            .circuitChanged(host: "a.example", .halfOpen), .retryBudgetSpent,
            .retryDeclined(.pauseTooLong), .credentialsRefused(host: "a.example"),
            .credentialsRenewed, .credentialsNotRenewed(error), .credentialsNotRenewed(nil),
            .attemptStarted(4), .pinMismatch(mismatch), .publicSuffixesIncomplete,
            .connectionOpened(attempt: 1, connection), .connectionReused(attempt: 2, connection),
            .progress(progress), .progress(TransferProgress()),
            .chunkSent(attempt: 1, bytes: 65536), .chunkReceived(attempt: 1, bytes: 1),
            .headReceived(attempt: 1, .notFound),
            .redirected(to: try HTTPURL(parsing: "https://b.example/"), .found),
            .attemptEnded(3, timings, error), .retrying(after: .seconds(2), error),
            .webSocket(.opened(subprotocol: "v2", extensions: nil)),
            .webSocket(.opened(subprotocol: nil, extensions: "permessage-deflate")),
            .webSocket(
                .message(
                    WebSocketEvent.Message(
                        .received, isText: true, count: 2, bytes: 1 << 40, bytesOnWire: 5))),
            .webSocket(.roundTrip(.microseconds(7))),
            .webSocket(
                .closed(WebSocketClose(code: .goingAway, reason: "later", isClean: true))),
            .resumed(offset: 1 << 33), .validated(error), .validated(nil), .ended(error),
            .ended(nil),
        ]
    }

    @Test func everyKindIsDecodedAsItWas() throws {
        for kind in try Self.kinds() {
            let event = RequestEvent(
                taskID: Self.taskID, endpoint: "GetUser", tag: 3, uptime: .nanoseconds(1_234_567),
                kind: kind)
            let data = try JSONEncoder().encode(event)
            let decoded = try JSONDecoder().decode(RequestEvent.self, from: data)
            #expect(decoded.taskID == Self.taskID && decoded.endpoint == "GetUser")
            #expect(decoded.tag == 3 && decoded.uptime == event.uptime)
            let encoder = JSONEncoder()
            encoder.outputFormatting = .sortedKeys
            #expect(try encoder.encode(decoded) == encoder.encode(event))
        }
    }

    /// The names are those of the cases, and do not change.
    @Test func namesAreThoseOfTheCases() throws {
        var types: Set<String> = []
        for kind in try Self.kinds() {
            let data = try JSONEncoder().encode(kind)
            let object = try #require(
                try JSONSerialization.jsonObject(with: data) as? [String: Any])
            let name = String("\(kind)".prefix { $0 != "(" })
            #expect(object["type"] as? String == name)
            types.insert(name)
        }
        #expect(types.count == 46, "add the new kinds here, to KindForm and to the article Events")
    }

    @Test func formIsStable() throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        let event = RequestEvent(
            taskID: try #require(UUID(uuidString: "E621E1F8-C36C-495A-93FC-0C247A3E6E5F")),
            endpoint: "GetUser", tag: 0, uptime: .seconds(81) + .milliseconds(276),
            kind: .headReceived(attempt: 1, .ok))
        #expect(
            String(decoding: try encoder.encode(event), as: UTF8.self)
                == #"{"endpoint":"GetUser","kind":{"attempt":1,"status":200,"type":"headReceived"},"#
                + #""tag":0,"taskID":"E621E1F8-C36C-495A-93FC-0C247A3E6E5F","uptime":81276000000}"#)
    }

    @Test(arguments: [
        #"{"type":"teleported","attempt":1}"#, #"{"type":"cacheMiss","reason":"ofNoInterest"}"#,
        #"{"type":"headReceived","attempt":1,"status":4000}"#,
        #"{"type":"phase","attempt":1,"phase":"guessed","duration":1}"#,
        #"{"type":"webSocket","event":"teleported"}"#,
    ])
    func unknownKindsAndValuesAreUnknown(text: String) throws {
        let kind = try JSONDecoder().decode(RequestEvent.Kind.self, from: Data(text.utf8))
        guard case .unknown(let name) = kind else {
            Issue.record("\(kind)")
            return
        }
        #expect(text.contains(name))
    }

    /// Payloads may be secrets; they are not in the form.
    @Test func payloadIsNotWritten() throws {
        let message = WebSocketEvent.Message(
            .sent, isText: true, bytes: 6, bytesOnWire: 12, payload: Data("hidden".utf8))
        let kind = RequestEvent.Kind.webSocket(.message(message))
        let text = String(decoding: try JSONEncoder().encode(kind), as: UTF8.self)
        #expect(
            !text.contains("hidden") && !text.contains(Data("hidden".utf8).base64EncodedString()))
    }

    @Test func missingMemberIsAnError() {
        #expect(throws: DecodingError.self) {
            try JSONDecoder().decode(
                RequestEvent.Kind.self, from: Data(#"{"type":"attemptStarted"}"#.utf8))
        }
    }

    @Test func everyCodeIsWrittenAndRead() throws {
        for code in RequestError.Code.all {
            let data = try JSONEncoder().encode(RequestError(code, stage: .cache, "Why."))
            let text = String(decoding: data, as: UTF8.self)
            #expect(text.contains("\"code\":\"\(code)\""), "\(text)")
            #expect(try JSONDecoder().decode(RequestError.self, from: data).code == code)
        }
        #expect(RequestError.Code.all.count > 30)
    }

    @Test func unknownCodesOfErrorsAreReadAsTransportFailures() throws {
        let text = #"{"code":"flooded","stage":"plumbing","message":"Water.","status":503}"#
        let error = try JSONDecoder().decode(RequestError.self, from: Data(text.utf8))
        #expect(error.code == .transportFailed && error.stage == .transport)
        #expect(error.message == "Water." && error.response?.statusCode == 503)
    }

    /// The form of an error has no header, no body, no query and no error of another type.
    @Test func errorsAreWrittenWithoutSecrets() throws {
        struct Inner: Error { let text = "secret" }
        var error = RequestError(
            .unacceptableStatus, stage: .validate, "Bad status.",
            response: Response(
                status: .forbidden, headers: [.authorization: "secret"],
                body: .data(Data("secret".utf8)),
                url: try HTTPURL(parsing: "https://a.example/x?token=secret")),
            underlying: Inner())
        error.body = "secret"
        let text = String(decoding: try JSONEncoder().encode(error), as: UTF8.self)
        #expect(!text.contains("secret") && text.contains("403"))
    }

    @Test func connectionEventsAreDecodedAsTheyWere() throws {
        let connection = Response.Connection(host: "a.example", port: 80, isSecure: false)
        #expect("\(connection)" == "connection \(connection.id) to a.example:80")
        for reason in [nil, .idleLimit, Response.Connection.CloseReason(rawValue: "newReason")] {
            let event = ConnectionEvent(
                transport: "curl", connection: connection, closeReason: reason, openConnections: 4,
                uptime: .microseconds(12))
            let data = try JSONEncoder().encode(event)
            #expect(try JSONDecoder().decode(ConnectionEvent.self, from: data) == event)
        }
    }
}
