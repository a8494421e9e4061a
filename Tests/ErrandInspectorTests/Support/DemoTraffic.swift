import ErrandCore
import ErrandTesting
import ErrandTransport
import Foundation
import HTTPTypes
import Synchronization

@testable import ErrandInspector

/// Records requests with chosen times, as if an agent had sent them, for the page's test and its screenshots.
final class DemoTraffic: Sendable {
    private let recorder: InspectorRecorder
    private let clock: ManualClock
    /// The pseudo-random numbers are the same in each run.
    private let seed = Mutex<UInt64>(7)
    /// The WebSocket that ``openSocket()`` has opened.
    private let socket = Mutex<(capture: any RequestCapture, transfer: Int)?>(nil)

    init(_ recorder: InspectorRecorder, _ clock: ManualClock) {
        self.recorder = recorder
        self.clock = clock
    }

    /// A request with its parts.
    struct Shape {
        var endpoint = "GetIssue"
        var method = HTTPMethod.get
        var path = "/repos/errand/issues/4"
        var host = "https://api.example.com"
        var status = 200
        var type = "application/json"
        var body = Data()
        var requestBody: String?
        var isNew = false
        var wait = 80
        var receive = 10
        var queue = 0
        var isOpen = false
        var failures: [Int] = []
        var cached = false
        var missed: CacheMissReason?
        var error: RequestError?
    }

    private func random(_ range: ClosedRange<Int>) -> Int {
        seed.withLock { seed in
            seed = seed &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return range.lowerBound + Int((seed >> 33) % UInt64(range.count))
        }
    }

    /// Records a request; the clock advances by its duration.
    func record(_ shape: Shape) {
        var description = RequestDescription(
            endpoint: shape.endpoint, url: EndpointURL(raw: shape.path))
        description.method = shape.method
        let id = UUID()
        recorder.pageCalled()
        let capture = recorder.willStart(&description, as: id)
        let metadata = description.metadata
        let url = shape.host + shape.path
        func emit(_ kind: RequestEvent.Kind, _ response: Response? = nil) {
            recorder.handle(
                RequestEvent(
                    taskID: id, endpoint: shape.endpoint, tag: 0, uptime: clock.uptime, kind: kind,
                    metadata: metadata, response: response))
        }
        func pass(_ milliseconds: Int) { clock.advance(by: .milliseconds(milliseconds)) }
        guard let uri = try? HTTPURL(parsing: url) else { return }
        emit(.started)
        emit(.adapted(method: shape.method, url: uri.withoutSecrets))
        if shape.cached {
            pass(2)
            emit(.cacheHit(age: .seconds(42), source: .cacheFresh))
            let response = response(shape, uri, .cacheFresh)
            capture.requestEnded(.success(response), nil)
            emit(.ended(nil), response)
            return
        }
        if let reason = shape.missed { emit(.cacheMiss(reason)) }
        if shape.queue > 0 {
            emit(.queued)
            pass(shape.queue)
            emit(.dequeued(after: .milliseconds(shape.queue)))
        }
        var attempt = 1
        for status in shape.failures {
            var failed = shape
            (failed.status, failed.body, failed.type) = (
                status, Data(#"{"message":"try again"}"#.utf8), "application/json"
            )
            transfer(failed, uri, attempt, capture, emit)
            let error = RequestError(
                .unacceptableStatus, stage: .validate, "Status \(status) (expected 200..<300).")
            emit(.validated(error))
            let delay = 120 * attempt
            emit(.retrying(after: .milliseconds(delay), error))
            pass(delay)
            attempt += 1
        }
        transfer(shape, uri, attempt, capture, emit)
        guard !shape.isOpen else { return }
        if let error = shape.error {
            capture.requestEnded(.failure(error), shape.missed)
            emit(.ended(error))
            return
        }
        if shape.status >= 400 {
            let error = RequestError(
                .unacceptableStatus, stage: .validate,
                "\(shape.endpoint) \(shape.method) \(uri.redacted): status \(shape.status) (expected 200..<300)",
                response: response(shape, uri, .network))
            emit(.validated(error))
            capture.requestEnded(.failure(error), shape.missed)
            emit(.ended(error))
            return
        }
        emit(.validated(nil))
        if shape.missed != nil { emit(.cacheStored(bytes: shape.body.count)) }
        let response = response(shape, uri, .network)
        capture.requestEnded(.success(response), shape.missed)
        emit(.ended(nil), response)
    }

    private func response(_ shape: Shape, _ url: HTTPURL, _ source: Response.Source) -> Response {
        var headers: HTTPFields = [
            .contentType: shape.type, .cacheControl: "max-age=60", .server: "errand-demo",
        ]
        headers.append(HTTPField(name: .setCookie, value: "session=4f1a9c; Path=/; HttpOnly"))
        headers.append(HTTPField(name: .eTag, value: "\"7c1\""))
        return Response(
            status: HTTPResponse.Status(code: shape.status), headers: headers,
            body: .data(shape.body), url: url, source: source, httpVersion: .http2,
            remoteAddress: "203.0.113.7:443")
    }

    private func transfer(
        _ shape: Shape, _ url: HTTPURL, _ attempt: Int, _ capture: any RequestCapture,
        _ emit: (RequestEvent.Kind, Response?) -> Void
    ) {
        var request = TransportRequest(method: shape.method, url: url)
        request.headers = [
            .accept: "application/json", .userAgent: "Errand/0.9", .acceptEncoding: "gzip, br",
            .authorization: "Bearer 4f1a9c0de",
        ]
        if let body = shape.requestBody {
            request.headers[.contentType] = "application/json"
            request.body = .string(body, contentType: "application/json")
        }
        emit(.attemptStarted(attempt), nil)
        let number = capture.transferStarted(request, attempt: attempt)
        emit(.transferStarted(attempt: attempt, url: url.withoutSecrets), nil)
        if shape.error == nil { capture.transferUses(connection(to: url), number) }
        guard !shape.isOpen else { return }
        var timings = AttemptTimings()
        var time = 1
        timings.queued = .milliseconds(time)
        if shape.isNew {
            time += random(8...24)
            timings.nameLookedUp = .milliseconds(time)
            time += random(15...35)
            timings.connected = .milliseconds(time)
            time += random(20...45)
            timings.secured = .milliseconds(time)
        }
        timings.reusedConnection = !shape.isNew
        if shape.error == nil {
            time += shape.wait
            timings.firstByte = .milliseconds(time)
            time += shape.receive
        } else {
            time += shape.wait
        }
        timings.finished = .milliseconds(time)
        timings.bytesReceived = Int64(shape.body.count)
        clock.advance(by: .milliseconds(time))
        emit(.transferEnded(attempt: attempt, timings, shape.error), nil)
        let response = shape.error == nil ? response(shape, url, .network) : nil
        let head = response.map {
            ResponseHead(
                status: $0.status, headers: $0.headers, httpVersion: $0.httpVersion,
                remoteAddress: $0.remoteAddress)
        }
        capture.transferEnded(
            number, head, response?.body, shape.error, Shared(TransferEnd(timings: timings)))
        emit(.attemptEnded(attempt, timings, shape.error), nil)
    }

    /// The connection to a host.
    private func connection(to url: HTTPURL) -> Response.Connection {
        let id: UInt64 = url.host == "cdn.example.com" ? 3 : 2
        return Response.Connection(
            id: id, host: url.host ?? "", port: 443, remoteAddress: "203.0.113.7:443",
            isSecure: true, httpVersion: .http2)
    }

    /// Records the opening and the end of connections.
    private func openConnections() {
        func report(
            _ connection: Response.Connection, _ reason: Response.Connection.CloseReason? = nil
        ) {
            recorder.handleConnection(
                ConnectionEvent(
                    transport: "demo", connection: connection, closeReason: reason,
                    openConnections: 2, uptime: clock.uptime))
        }
        let old = Response.Connection(
            id: 1, host: "status.example.net", port: 443, remoteAddress: "198.51.100.4:443",
            isSecure: true, httpVersion: .http11)
        report(old)
        for host in ["api", "cdn"] {
            if let url = try? HTTPURL(parsing: "https://\(host).example.com/") {
                report(connection(to: url))
            }
        }
        clock.advance(by: .milliseconds(800))
        report(old, .serverClosed)
    }

    /// Records plain requests.
    func burst(_ count: Int) {
        for _ in 0..<count {
            let number = random(1...900)
            record(
                Shape(
                    path: "/repos/errand/issues/\(number)?page=\(random(1...9))",
                    status: random(0...30) == 0 ? 500 : 200,
                    body: Data(#"{"number":\#(number)}"#.utf8),
                    wait: random(20...140), receive: random(1...30)))
        }
    }

    /// Records one request of each kind, among others.
    func tour() {
        openConnections()
        let issue = Data(
            #"""
            {"number":4,"title":"Streams stop after a redirect","state":"open",
            "locked":false,"comments":12,"assignee":null,
            "user":{"login":"ada","id":7,"email":"ada@example.com"},"token":"4f1a9c0de",
            "labels":[{"name":"bug","color":"d73a4a"},{"name":"streams","color":"0075ca"}],
            "reactions":{"+1":4,"heart":2,"total":6}}
            """#.utf8)
        let list = Data(
            "[\((1...40).map { #"{"number":\#($0),"state":"open"}"# }.joined(separator: ","))]".utf8
        )
        record(
            Shape(
                endpoint: "SignIn", method: .post, path: "/session",
                body: Data(#"{"token":"4f1a9c0de"}"#.utf8),
                requestBody: #"{"user":"ada","password":"correct horse"}"#, isNew: true, wait: 140))
        record(
            Shape(
                endpoint: "ListIssues", path: "/repos/errand/issues?state=open&page=1", body: list,
                missed: .noEntry))
        record(Shape(body: issue, wait: 64, missed: .noEntry))
        record(Shape(body: issue, cached: true))
        record(
            Shape(
                endpoint: "GetAvatar", path: "/u/7.png", host: "https://cdn.example.com",
                type: "image/png", body: Self.image, isNew: true, wait: 38, receive: 46))
        record(
            Shape(
                endpoint: "GetIssue", path: "/repos/errand/issues/999", status: 404,
                body: Data(#"{"message":"Not Found"}"#.utf8)))
        record(
            Shape(
                endpoint: "Search", path: "/search/issues?q=streams&access_token=4f1a9c0de",
                body: list, wait: 190, receive: 34, queue: 120))
        record(
            Shape(
                endpoint: "CreateIssue", method: .post, path: "/repos/errand/issues", status: 201,
                body: issue,
                requestBody:
                    #"{"title":"Streams stop after a redirect","labels":["bug","streams"]}"#,
                wait: 110, failures: [503, 503]))
        record(
            Shape(
                endpoint: "GetStatus", path: "/status", host: "https://status.example.net",
                wait: 300,
                error: RequestError(
                    .connectionLost, stage: .transport,
                    "The server closed the connection before its response.")))
        for number in 5...16 {
            record(
                Shape(
                    path: "/repos/errand/issues/\(number)", body: issue, wait: random(30...160),
                    receive: random(2...30), queue: number % 3 == 0 ? random(20...90) : 0,
                    cached: number % 5 == 0))
        }
        record(
            Shape(
                endpoint: "CloseIssue", method: .patch, path: "/repos/errand/issues/4", body: issue,
                requestBody: #"{"state":"closed"}"#, wait: 71))
        record(
            Shape(
                endpoint: "DeleteComment", method: .delete, path: "/repos/errand/comments/18",
                status: 204, type: "", wait: 55))
        record(Shape(endpoint: "DownloadLog", path: "/runs/81/log", isOpen: true))
    }

    /// Records a WebSocket with its first messages, which stays open.
    func openSocket() {
        guard let url = try? HTTPURL(parsing: "https://api.example.com/prices") else { return }
        var description = RequestDescription(
            endpoint: "Prices", url: "wss://api.example.com/prices")
        let capture = recorder.willStart(&description, as: UUID())
        let transfer = capture.transferStarted(TransportRequest(url: url), attempt: 1)
        socket.withLock { $0 = (capture, transfer) }
        capture.webSocket(
            .opened(
                subprotocol: "prices.v2",
                extensions: "permessage-deflate; client_max_window_bits=12"), transfer)
        exchange(.sent, #"{"subscribe":["SWFT","LNX"],"token":"4f1a9c0de"}"#)
        exchange(.received, #"{"subscribed":["SWFT","LNX"],"session":"4f1a9c0de"}"#)
        for number in 0..<5 {
            clock.advance(by: .milliseconds(random(180...900)))
            let symbol = number % 2 == 0 ? "SWFT" : "LNX"
            exchange(
                .received,
                #"{"symbol":"\#(symbol)","price":\#(110 + number).25,"volume":{"bid":7,"ask":12}}"#)
        }
        exchange(.received, "maintenance in ten minutes")
        exchange(.received, String(decoding: (0..<100).map { UInt8($0) }, as: UTF8.self), false)
        capture.webSocket(.roundTrip(.milliseconds(12)), transfer)
    }

    /// Records a message of the WebSocket.
    func exchange(
        _ direction: WebSocketEvent.Message.Direction, _ text: String, _ isText: Bool = true
    ) {
        clock.advance(by: .milliseconds(40))
        let payload = Data(text.utf8)
        let message = WebSocketEvent.Message(
            direction, isText: isText, bytes: Int64(payload.count),
            bytesOnWire: Int64(payload.count + (direction == .sent ? 6 : 2)), payload: payload)
        socket.withLock { $0?.capture.webSocket(.message(message), $0?.transfer ?? 0) }
    }

    /// Records the end of the WebSocket.
    func closeSocket() {
        guard let (capture, transfer) = socket.withLock({ $0 }) else { return }
        let close = WebSocketClose(code: .goingAway, reason: "restart", isClean: true)
        capture.webSocket(.closed(close), transfer)
        let head = ResponseHead(status: HTTPResponse.Status(code: 101))
        capture.transferEnded(transfer, head, nil, nil, Shared(TransferEnd()))
    }

    /// A picture of 96 × 96 pixels, as uncompressed PNG.
    static let image: Data = {
        let size = 96
        var rows = Data()
        for y in 0..<size {
            rows.append(0)
            for x in 0..<size {
                let (dx, dy) = (x - size / 2, y - size / 2)
                let isInside = dx * dx + dy * dy < 44 * 44
                rows.append(
                    contentsOf: isInside ? [UInt8(60 + x), UInt8(90 + y), 220, 255] : [0, 0, 0, 0])
            }
        }
        var png = Data([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A])
        func chunk(_ type: String, _ data: Data) {
            png.append(contentsOf: withUnsafeBytes(of: UInt32(data.count).bigEndian, Array.init))
            let body = Data(type.utf8) + data
            png.append(body)
            png.append(contentsOf: withUnsafeBytes(of: crc(body).bigEndian, Array.init))
        }
        chunk("IHDR", Data([0, 0, 0, UInt8(size), 0, 0, 0, UInt8(size), 8, 6, 0, 0, 0]))
        // Stored blocks of zlib, of at most 65,535 bytes each.
        var stream = Data([0x78, 0x01])
        var (a, b): (UInt32, UInt32) = (1, 0)
        for byte in rows {
            a = (a + UInt32(byte)) % 65_521
            b = (b + a) % 65_521
        }
        stream.append(contentsOf: [1])
        stream.append(contentsOf: withUnsafeBytes(of: UInt16(rows.count).littleEndian, Array.init))
        stream.append(
            contentsOf: withUnsafeBytes(of: (~UInt16(rows.count)).littleEndian, Array.init))
        stream.append(rows)
        stream.append(contentsOf: withUnsafeBytes(of: (b << 16 | a).bigEndian, Array.init))
        chunk("IDAT", stream)
        chunk("IEND", Data())
        return png
    }()

    private static func crc(_ data: Data) -> UInt32 {
        var crc: UInt32 = 0xFFFF_FFFF
        for byte in data {
            crc ^= UInt32(byte)
            for _ in 0..<8 { crc = crc & 1 == 1 ? (crc >> 1) ^ 0xEDB8_8320 : crc >> 1 }
        }
        return ~crc
    }
}
