import HTTPTypes

@testable import ErrandCurl

/// A session whose events and output are texts.
final class TestSession {
    var session: SessionState
    let output = TextBuffer(capacity: 1024)
    /// Whether content is accepted at once.
    var accepts = true
    /// The bytes that the recipients of streams hold.
    private(set) var failure: StreamFailure?
    private(set) var fault: SessionFault?
    private(set) var fields = HTTPFields()
    private(set) var head: HeadParser.Head?

    /// Creates a session that has sent its preface, and unless `settings` is `nil`, received the
    /// server's.
    init(
        _ limits: SessionState.Limits = SessionState.Limits(), settings: [UInt8]? = Wire.settings()
    ) {
        session = SessionState(limits)
        session.start(into: output)
        if let settings {
            output.removeAll()
            _ = receive(settings)
            output.removeAll()
        }
    }

    // `#expect` needs values that can be copied.
    var places: Int { session.places }
    var phase: SessionState.Phase { session.phase }
    var streamCount: Int { session.streamCount }
    var isExhausted: Bool { session.isExhausted }
    var isAtFrameBoundary: Bool { session.isAtFrameBoundary }
    var peer: PeerSettings { session.peer }
    func isOpen(_ key: StreamKey) -> Bool { session.isOpen(key) }
    func isSending(_ key: StreamKey) -> Bool { session.isSending(key) }

    /// Opens a stream for a request.
    @discardableResult
    func open(
        _ method: String = "GET", body: Bool = false, limit: Int? = nil, connect: Bool = false
    )
        -> StreamKey?
    {
        var request = StreamState.Request()
        request.isHead = method == "HEAD"
        request.hasBody = body || connect
        request.isConnect = connect
        if let limit { request.maximumHeadBytes = limit }
        return session.open(request, into: output) { encoder, output in
            encoder.append(method: method, into: output)
            encoder.append(scheme: "https", into: output)
            encoder.append(authority: "a.test", into: output)
            encoder.append(path: UnsafeRawBufferPointer(start: nil, count: 0), into: output)
        }
    }

    /// The events of input, as texts.
    func receive(_ bytes: [UInt8]...) -> [String] { receive(bytes.flatMap(\.self)) }

    func receive(_ bytes: [UInt8]) -> [String] {
        var texts: [String] = []
        bytes.withUnsafeBytes { bytes in
            var input = bytes
            while let text = next(&input) { texts.append(text) }
        }
        return texts
    }

    private func next(_ input: inout UnsafeRawBufferPointer) -> String? {
        switch session.next(&input, into: output) {
        case .needsInput: return nil
        case .interim(let key, let head):
            fields = head.fields
            return "interim \(key.number) \(head.status.code)"
        case .head(let key, let head, let continuation):
            fields = head.fields
            self.head = head
            return "head \(key.number) \(head.status.code) \(continuation)"
        case .content(let key, let bytes, let continuation):
            if accepts { session.accept(bytes.count, of: key, into: output) }
            return "content \(key.number) \(String(decoding: bytes, as: UTF8.self)) \(continuation)"
        case .trailers(let key, let trailers, let continuation):
            fields = trailers
            return "trailers \(key.number) \(continuation)"
        case .ended(let key, let failure):
            self.failure = failure
            return "ended \(key.number) \(Self.text(failure))"
        case .sendable(let key): return "sendable \(key.number)"
        case .changed: return "changed"
        case .draining(let code): return "draining \(code)"
        case .pingAcknowledged(let data): return "pong \(data)"
        case .failed(let fault):
            self.fault = fault
            return "failed \(fault.code)"
        }
    }

    private static func text(_ failure: StreamFailure) -> String {
        switch failure {
        case .unprocessed: "unprocessed"
        case .requiresHTTP11: "requiresHTTP11"
        case .reset(let code): "reset \(code)"
        case .complete: "complete"
        case .malformed: "malformed"
        case .tooLarge: "tooLarge"
        case .truncated: "truncated"
        case .fault(let fault): "fault \(fault.code)"
        }
    }

    /// Sends content on a stream; returns whether the stream has ended.
    @discardableResult
    func send(_ count: Int, on key: StreamKey?, ends: Bool = false) -> Bool {
        guard let key else { return false }
        return session.send(on: key, upTo: count, into: output) { room in
            for index in room.indices { room[index] = 0x78 }
            return (room.count, ends)
        }
    }

    func stopSending(_ key: StreamKey?) -> Bool? {
        key.map { session.stopSending($0, into: output) }
    }

    func send(trailers: HTTPFields, on key: StreamKey) -> Bool {
        session.send(trailers: trailers, on: key, into: output)
    }

    func available(_ key: StreamKey?) -> Int { key.map { session.available(on: $0) } ?? -1 }

    /// The frames written since the last call, as texts.
    func written() -> [String] {
        defer { output.removeAll() }
        var bytes = Array(output.contents)
        if bytes.starts(with: Wire.preface) { bytes.removeFirst(Wire.preface.count) }
        let (frames, rest) = NaiveFramer.frames(bytes)
        return frames.map(\.description) + (rest.isEmpty ? [] : ["\(rest.count) surplus bytes"])
    }
}
