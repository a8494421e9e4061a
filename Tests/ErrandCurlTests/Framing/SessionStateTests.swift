import HTTPTypes
import Testing

@testable import ErrandCurl

/// The beginning, the settings, the flow control and the end of an HTTP/2 connection.
struct SessionStateTests {
    private static let head = Wire.headers(1)

    // MARK: - Beginning

    /// RFC 9113 §3.4: the preface, SETTINGS without push, and the window of the connection.
    @Test func preface() {
        let client = TestSession(settings: nil)
        #expect(client.output.contents.starts(with: Wire.preface))
        #expect(
            client.written() == [
                "SETTINGS 0 2=0 4=262144 6=262144", "WINDOW_UPDATE 0 16711681",
            ])
        #expect(client.phase == .opening)
        #expect(client.receive(Wire.settings()) == ["changed"])
        #expect(client.phase == .open)
        #expect(client.written() == ["SETTINGS 0 acknowledgement"])
    }

    /// RFC 9113 §3.4: the first frame of the server is SETTINGS.
    @Test(arguments: [
        Wire.ping(), Wire.settingsAcknowledgement, Wire.goAway(0), Wire.frame(0x16),
        Wire.windowUpdate(0, 1),
    ])
    func firstFrame(_ frame: [UInt8]) {
        let client = TestSession(settings: nil)
        _ = client.written()
        #expect(client.receive(frame) == ["failed PROTOCOL_ERROR"])
        #expect(client.fault?.message.starts(with: "It does not speak HTTP/2.") == true)
        #expect(client.written() == ["GOAWAY 0 0 PROTOCOL_ERROR"])
    }

    @Test func otherProtocol() {
        let client = TestSession(settings: nil)
        #expect(
            client.receive(Array("HTTP/1.1 400 Bad Request\r\n\r\n".utf8)) == [
                "failed FRAME_SIZE_ERROR"
            ])
        #expect(client.fault?.message.starts(with: "It does not speak HTTP/2.") == true)
    }

    /// After a connection error, nothing is read or opened any more.
    @Test func closed() {
        let client = TestSession()
        client.open()
        _ = client.receive(Wire.frame(5, stream: 1))
        #expect(client.phase == .closed)
        #expect(client.receive(Self.head) == [])
        #expect(client.open() == nil)
        _ = client.written()
        client.session.close(.noError, into: client.output)
        #expect(client.written() == [])
    }

    @Test func closeByClient() {
        let client = TestSession()
        client.session.close(.noError, into: client.output)
        #expect(client.written() == ["GOAWAY 0 0 NO_ERROR"])
        #expect(client.places == 0)
    }

    // MARK: - Streams

    /// RFC 9113 §5.1.1: streams of a client are odd and increase.
    @Test func numbers() {
        let client = TestSession()
        #expect(client.open()?.number == 1)
        #expect(client.open()?.number == 3)
        #expect(client.open(body: true)?.number == 5)
        #expect(
            client.written() == [
                "HEADERS 1 end", "HEADERS 3 end", "HEADERS 5",
            ])
        #expect(client.streamCount == 3)
    }

    /// RFC 9113 §5.1.2, §6.5.2: 100 streams until the settings arrive, then as many as the server
    /// allows, and at most the client's own limit.
    @Test func places() {
        let client = TestSession(settings: nil)
        for _ in 0..<100 { client.open() }
        #expect(client.places == 0)
        #expect(client.open() == nil)
        _ = client.receive(Wire.settings())
        #expect(client.places == 900)
        #expect(client.receive(Wire.settings((3, 102))) == ["changed"])
        #expect(client.places == 2)
        _ = client.receive(Wire.settings((3, 0)))
        #expect(client.places == 0)
        #expect(client.open() == nil)
        #expect(client.streamCount == 100)
        // A later SETTINGS raises the limit.
        _ = client.receive(Wire.settings((3, 101)))
        #expect(client.open()?.number == 201)
    }

    @Test func endedStreamFreesItsPlace() {
        let client = TestSession(settings: Wire.settings((3, 1)))
        let key = client.open()
        #expect(client.open() == nil)
        #expect(key.map { client.isOpen($0) } == true)
        _ = client.receive(Wire.headers(1, ends: true))
        #expect(key.map { client.isOpen($0) } == false)
        let next = client.open()
        #expect(next?.slot == key?.slot)
        // The old key has no effect on the stream that uses its slot.
        if let key { client.session.reset(key, into: client.output) }
        #expect(client.streamCount == 1)
    }

    /// RFC 9113 §5.1.1: a connection without further numbers opens no stream.
    @Test func exhaustion() {
        let client = TestSession()
        client.session.skipNumbers(to: 0x7FFF_FFFF)
        #expect(!client.isExhausted)
        #expect(client.open()?.number == 0x7FFF_FFFF)
        #expect(client.isExhausted)
        #expect(client.places == 0)
        #expect(client.open() == nil)
    }

    @Test func resetByClient() {
        let client = TestSession()
        let key = client.open()
        _ = client.written()
        if let key { client.session.reset(key, into: client.output) }
        #expect(client.written() == ["RST_STREAM 1 CANCEL"])
        // §5.1: the frames were on their way. The table of the head is needed nevertheless.
        let block: [UInt8] = [0x88, 0x40] + Wire.text("x-a") + Wire.text("b")
        #expect(client.receive(Wire.headers(1, block), Wire.data(1, "x", ends: true)) == [])
        #expect(client.receive(Wire.reset(1), Wire.windowUpdate(1, 1)) == [])
        #expect(client.written() == [])
        client.open()
        #expect(client.receive(Wire.headers(3, [0x88, 0xBE], ends: true)) == ["head 3 200 ended"])
        #expect(client.fields.first?.value == "b")
    }

    /// The heads of streams that ended long ago are decoded and have no other effect.
    @Test func forgottenStreams() {
        let client = TestSession()
        for number in 0..<200 {
            client.open()
            _ = client.receive(Wire.headers(UInt32(2 * number + 1), ends: true))
        }
        _ = client.written()
        #expect(client.receive(Wire.headers(1, [0x88, 0x40, 1, 0x61, 1, 0x62])) == [])
        #expect(client.receive(Wire.data(3, "x")) == [])
        #expect(client.written() == [])
        #expect(client.receive(Wire.data(399, "x")) == ["failed STREAM_CLOSED"])
    }

    // MARK: - RST_STREAM

    @Test(arguments: [
        (7, "unprocessed"), (13, "requiresHTTP11"), (0, "reset NO_ERROR"), (8, "reset CANCEL"),
        (2, "reset INTERNAL_ERROR"), (99, "reset 0x63"),
    ])
    func resetBeforeHead(_ code: UInt32, _ end: String) {
        let client = TestSession()
        client.open()
        _ = client.written()
        #expect(client.receive(Wire.reset(1, code)) == ["ended 1 \(end)"])
        #expect(client.written() == [])
        #expect(client.streamCount == 0)
    }

    /// A server that has begun to respond has processed the request.
    @Test(arguments: [(7, "reset REFUSED_STREAM"), (13, "reset HTTP_1_1_REQUIRED")])
    func resetAfterHead(_ code: UInt32, _ end: String) {
        let client = TestSession()
        client.open()
        #expect(
            client.receive(Self.head, Wire.reset(1, code)) == [
                "head 1 200 receiving", "ended 1 \(end)",
            ])
    }

    /// RFC 9113 §8.1: before END_STREAM, RST_STREAM(NO_ERROR) truncates the response.
    @Test func resetBeforeEnd() {
        let client = TestSession()
        client.open(body: true)
        #expect(
            client.receive(Self.head, Wire.data(1, "x"), Wire.reset(1, 0)) == [
                "head 1 200 receiving", "content 1 x receiving", "ended 1 reset NO_ERROR",
            ])
    }

    // MARK: - Uploads

    @Test func upload() {
        let client = TestSession()
        let key = client.open(body: true)
        #expect(client.available(key) == 65_535)
        #expect(!client.send(3, on: key))
        #expect(!client.send(0, on: key, ends: true))
        #expect(client.written() == ["HEADERS 1", "DATA 1 xxx", "DATA 1 end"])
        #expect(client.available(key) == 0)
        #expect(client.receive(Wire.headers(1, ends: true)) == ["head 1 200 ended"])
    }

    @Test func requestWithTrailers() {
        let client = TestSession()
        guard let key = client.open(body: true) else {
            Issue.record("No stream was opened.")
            return
        }
        client.send(3, on: key)
        var trailers = HTTPFields()
        trailers.append(HTTPField(name: .contentLanguage, value: "en"))
        #expect(!client.send(trailers: trailers, on: key))
        #expect(client.written() == ["HEADERS 1", "DATA 1 xxx", "HEADERS 1 end"])
        #expect(!client.isSending(key))
    }

    /// RFC 9113 §8.1: a success does not end the request; the stream ends with it.
    @Test func earlySuccess() {
        let client = TestSession()
        let key = client.open(body: true)
        #expect(client.receive(Wire.headers(1, ends: true)) == ["head 1 200 sending"])
        _ = client.written()
        #expect(!client.send(3, on: key))
        #expect(client.send(1, on: key, ends: true))
        #expect(client.written() == ["DATA 1 xxx", "DATA 1 x end"])
        #expect(client.streamCount == 0)
    }

    /// RFC 9113 §8.1: the server does not need the rest of the request.
    @Test func resetAfterResponse() {
        let client = TestSession()
        client.open(body: true)
        #expect(
            client.receive(Wire.headers(1, ends: true), Wire.reset(1, 0)) == [
                "head 1 200 sending", "ended 1 complete",
            ])
    }

    /// A refusal stops the request, and its end resets the stream.
    @Test func refusal() {
        let client = TestSession()
        let key = client.open(body: true)
        _ = client.written()
        #expect(client.receive(Wire.headers(1, [0x8D])) == ["head 1 404 receiving"])
        #expect(client.available(key) == 0)
        client.send(3, on: key)
        #expect(client.written() == [])
        #expect(client.receive(Wire.data(1, "x", ends: true)) == ["content 1 x ended"])
        #expect(client.written() == ["RST_STREAM 1 NO_ERROR"])
        #expect(client.streamCount == 0)
    }

    /// The caller may stop a request whose response is complete, or is not.
    @Test func stoppedByClient() {
        let client = TestSession()
        let (one, two) = (client.open(body: true), client.open(body: true))
        _ = client.receive(Wire.headers(1, ends: true), Wire.headers(3))
        _ = client.written()
        #expect(client.stopSending(one) == true)
        #expect(client.written() == ["RST_STREAM 1 NO_ERROR"])
        #expect(client.stopSending(two) == false)
        #expect(client.available(two) == 0)
        #expect(client.written() == [])
        #expect(client.receive(Wire.data(3, "x", ends: true)) == ["content 3 x ended"])
        #expect(client.written() == ["RST_STREAM 3 NO_ERROR"])
    }

    /// RFC 9113 §5.1: frames after END_STREAM during an upload are an error of the stream.
    @Test(arguments: [Wire.data(1, "x"), Wire.headers(1)])
    func frameAfterEnd(_ frame: [UInt8]) {
        let client = TestSession()
        client.open(body: true)
        _ = client.receive(Wire.headers(1, ends: true))
        _ = client.written()
        #expect(client.receive(frame) == ["ended 1 fault STREAM_CLOSED"])
        #expect(client.written() == ["RST_STREAM 1 STREAM_CLOSED"])
    }

    /// RFC 9113 §8.5: a tunnel has content in both directions and no trailers.
    @Test func tunnel() {
        let client = TestSession()
        let key = client.open("CONNECT", connect: true)
        let head = Wire.headers(1, Wire.block((":status", "200"), ("content-length", "1")))
        #expect(
            client.receive(head, Wire.data(1, "abc")) == [
                "head 1 200 receiving", "content 1 abc receiving",
            ])
        _ = client.written()
        client.send(2, on: key)
        #expect(client.written() == ["DATA 1 xx"])
        #expect(
            client.receive(Wire.headers(1, Wire.block(("a", "b")), ends: true)) == [
                "ended 1 malformed"
            ])
    }

    @Test func tunnelRefused() {
        let client = TestSession()
        client.open("CONNECT", connect: true)
        #expect(client.receive(Wire.headers(1, [0x8D], ends: true)) == ["head 1 404 ended"])
    }

    // MARK: - Sending windows

    /// RFC 9113 §6.9: DATA takes from both windows, and is not larger than the server's frames.
    @Test func sendWindows() {
        let client = TestSession()
        let (one, two) = (client.open(body: true), client.open(body: true))
        _ = client.written()
        for _ in 0..<5 { client.send(1 << 20, on: one) }
        #expect(client.output.count == 65_535 + 5 * 9)
        #expect(client.available(one) == 0 && client.available(two) == 0)
        // The window of the connection is used up; that of stream 3 is not.
        #expect(client.receive(Wire.windowUpdate(1, 10)) == ["sendable 1"])
        #expect(client.available(one) == 0)
        #expect(client.receive(Wire.windowUpdate(0, 30)) == ["changed"])
        #expect(client.available(one) == 10 && client.available(two) == 30)
        #expect(client.receive(Wire.windowUpdate(0, 30), Wire.windowUpdate(1, 1)) == [])
    }

    /// RFC 9113 §6.9.2: a change of the initial window applies to open streams; their windows may
    /// become negative.
    @Test func initialWindow() {
        let client = TestSession()
        let key = client.open(body: true)
        client.send(60_000, on: key)
        #expect(client.available(key) == 65_535 - 16_384)
        _ = client.receive(Wire.settings((4, 10_000)))
        #expect(client.available(key) == 0)
        #expect(client.receive(Wire.windowUpdate(1, 6_384)) == [])
        #expect(client.receive(Wire.windowUpdate(1, 1)) == ["sendable 1"])
        #expect(client.available(key) == 1)
        _ = client.receive(Wire.settings((4, 20_000)))
        #expect(client.available(key) == 10_001)
        // It does not apply to the connection, and applies to new streams.
        #expect(client.available(client.open(body: true)) == 20_000)
    }

    /// RFC 9113 §6.5.2: the value is invalid, also without a stream whose window would overflow.
    @Test func invalidInitialWindow() {
        let client = TestSession()
        #expect(client.receive(Wire.settings((4, 0x8000_0000))) == ["failed FLOW_CONTROL_ERROR"])
        let other = TestSession()
        #expect(other.receive(Wire.settings((4, 0x7FFF_FFFF))) == ["changed"])
    }

    @Test func maximumFrame() {
        let client = TestSession(settings: Wire.settings((5, 20_000)))
        let key = client.open(body: true)
        _ = client.written()
        client.send(1 << 20, on: key)
        #expect(client.output.count == 20_009)
    }

    // MARK: - Receiving windows

    /// The connection's window is free on arrival, the stream's when its recipient accepts.
    @Test func receiveWindows() {
        var limits = SessionState.Limits()
        limits.connectionWindow = 100_000
        limits.streamWindow = 65_535
        limits.largestStreamWindow = 65_535
        let client = TestSession(limits)
        client.accepts = false
        let key = client.open()
        _ = client.receive(Self.head)
        _ = client.written()
        let data = Wire.data(1, bytes: [UInt8](repeating: 0x78, count: 16_000))
        for _ in 0..<3 { _ = client.receive(data) }
        #expect(client.written() == [])
        _ = client.receive(data)
        #expect(client.written() == ["WINDOW_UPDATE 0 64000"])
        // Nothing was accepted, so the stream's window is used up.
        #expect(client.receive(data) == ["ended 1 fault FLOW_CONTROL_ERROR"])
        #expect(client.written() == ["RST_STREAM 1 FLOW_CONTROL_ERROR"])
        if let key { client.session.accept(64_000, of: key, into: client.output) }
        #expect(client.written() == [])
    }

    @Test func acceptedContent() {
        var limits = SessionState.Limits()
        limits.streamWindow = 65_535
        limits.largestStreamWindow = 65_535
        let client = TestSession(limits)
        client.open()
        _ = client.receive(Self.head)
        _ = client.written()
        let data = Wire.data(1, bytes: [UInt8](repeating: 0x78, count: 16_000))
        for _ in 0..<20 { #expect(client.receive(data).count == 1) }
        #expect(client.written() == [String](repeating: "WINDOW_UPDATE 1 48000", count: 6))
    }

    /// RFC 9113 §6.9.1: padding takes from the windows, and is free at once.
    @Test func padding() {
        var limits = SessionState.Limits()
        limits.streamWindow = 1_000
        limits.largestStreamWindow = 1_000
        let client = TestSession(limits)
        client.accepts = false
        client.open()
        _ = client.receive(Self.head)
        _ = client.written()
        for _ in 0..<2 { _ = client.receive(Wire.data(1, "x", padding: 255)) }
        #expect(client.written() == ["WINDOW_UPDATE 1 512"])
    }

    /// RFC 9113 §6.9: the window of the connection also bounds streams that are gone.
    @Test func connectionWindow() {
        var limits = SessionState.Limits()
        limits.connectionWindow = 65_535
        limits.streamWindow = 1 << 20
        let client = TestSession(limits)
        client.open()
        _ = client.receive(Self.head)
        _ = client.written()
        let data = Wire.data(1, bytes: [UInt8](repeating: 0x78, count: 16_000))
        for _ in 0..<3 { _ = client.receive(data) }
        #expect(client.written() == ["WINDOW_UPDATE 0 48000"])
        _ = client.receive(Wire.reset(1))
        // DATA of the stream that is gone is counted, too, and given back.
        let client2 = TestSession(limits)
        let key = client2.open()
        if let key { client2.session.reset(key, into: client2.output) }
        _ = client2.written()
        for _ in 0..<3 { _ = client2.receive(data) }
        #expect(client2.written() == ["WINDOW_UPDATE 0 48000"])
    }

    @Test func updateAfterTheEnd() {
        var limits = SessionState.Limits()
        limits.streamWindow = 10
        limits.largestStreamWindow = 10
        let client = TestSession(limits)
        client.accepts = false
        let key = client.open(body: true)
        _ = client.receive(Self.head, Wire.data(1, "0123456789", ends: true))
        _ = client.written()
        if let key { client.session.accept(10, of: key, into: client.output) }
        #expect(client.written() == [])
    }

    // MARK: - GOAWAY

    /// RFC 9113 §6.8: streams above the last one were not processed; the others go on.
    @Test func goAway() {
        let client = TestSession()
        for _ in 0..<4 { client.open() }
        _ = client.written()
        #expect(
            client.receive(Wire.goAway(3, 0, debug: "bye")) == [
                "draining NO_ERROR", "ended 5 unprocessed", "ended 7 unprocessed",
            ])
        #expect(client.phase == .draining)
        #expect(client.places == 0)
        #expect(client.open() == nil)
        #expect(client.receive(Wire.headers(3, ends: true)) == ["head 3 200 ended"])
        #expect(client.streamCount == 1)
        // A later one may name fewer, and not more.
        #expect(
            client.receive(Wire.goAway(0, 2)) == [
                "draining INTERNAL_ERROR", "ended 1 unprocessed",
            ])
        #expect(client.receive(Wire.goAway(1)) == ["failed PROTOCOL_ERROR"])
    }

    /// A response that has begun is not repeated, and one that is complete needs no repetition.
    @Test func goAwayDuringResponses() {
        let client = TestSession()
        client.open()
        client.open(body: true)
        client.open()
        _ = client.receive(Self.head, Wire.data(1, "x"), Wire.headers(3, ends: true))
        #expect(
            client.receive(Wire.goAway(0, 2)) == [
                "draining INTERNAL_ERROR", "ended 1 reset INTERNAL_ERROR", "ended 3 complete",
                "ended 5 unprocessed",
            ])
        #expect(client.failure == .unprocessed(.internalError))
        #expect(client.streamCount == 0)
    }

    @Test func goAwayInTwoSteps() {
        let client = TestSession()
        client.open()
        #expect(client.receive(Wire.goAway(0x7FFF_FFFF)) == ["draining NO_ERROR"])
        #expect(client.streamCount == 1)
        #expect(client.receive(Wire.goAway(1)) == ["draining NO_ERROR"])
        #expect(client.receive(Wire.headers(1, ends: true)) == ["head 1 200 ended"])
    }

    @Test func draining() {
        let client = TestSession()
        client.open()
        client.session.drain()
        #expect(client.open() == nil)
        #expect(client.receive(Wire.headers(1, ends: true)) == ["head 1 200 ended"])
    }

    // MARK: - Floods

    static let useless: [[UInt8]] = [
        Wire.ping(), Wire.ping(isAcknowledgement: true), Wire.settings(),
        Wire.settingsAcknowledgement, Wire.priority(1), Wire.priority(9), Wire.windowUpdate(0, 1),
        Wire.windowUpdate(1, 1), Wire.windowUpdate(3, 1), Wire.reset(3), Wire.frame(0x16),
        Wire.data(1), Wire.data(1, padding: 20), Wire.data(5), Wire.windowUpdate(5, 0),
    ]

    /// Frames that change nothing for a request are bounded.
    @Test(arguments: useless)
    func flood(_ frame: [UInt8]) {
        let client = TestSession()
        client.open()
        let gone = client.open()
        let cancelled = client.open()
        if let gone { client.session.reset(gone, into: client.output) }
        if let cancelled { client.session.reset(cancelled, into: client.output) }
        _ = client.receive(Self.head)
        for _ in 0..<1000 {
            let isFailed = client.receive(frame).contains { $0.hasPrefix("failed") }
            #expect(!isFailed)
        }
        _ = client.written()
        #expect(client.receive(frame).last == "failed ENHANCE_YOUR_CALM")
        #expect(client.written().last == "GOAWAY 0 0 ENHANCE_YOUR_CALM")
    }

    /// DATA that was on its way when its stream was reset is expected, as far as the window allowed; more
    /// is counted.
    @Test(arguments: [1, 10])
    func lateContent(_ count: Int) {
        var limits = SessionState.Limits()
        limits.streamWindow = 20_000
        let client = TestSession(limits)
        for key in [client.open(), client.open()] {
            if let key { client.session.reset(key, into: client.output) }
        }
        let frame = Wire.data(1, String(repeating: "x", count: count))
        for _ in 0..<(40_000 / count + 1_000) { #expect(client.receive(frame) == []) }
        #expect(client.receive(frame) == ["failed ENHANCE_YOUR_CALM"])
    }

    /// The head and the trailers of each stream may be on their way.
    @Test func lateHeads() {
        let client = TestSession()
        let keys = (0..<600).map { _ in client.open() }
        for key in keys { if let key { client.session.reset(key, into: client.output) } }
        for key in keys {
            let number = key?.number ?? 0
            #expect(client.receive(Wire.headers(number), Wire.headers(number, ends: true)) == [])
        }
        for _ in 0..<1_000 { #expect(client.receive(Wire.headers(1)) == []) }
        #expect(client.receive(Wire.headers(1)) == ["failed ENHANCE_YOUR_CALM"])
    }

    /// A stream whose response is complete has nothing on its way.
    @Test func nothingIsLateAfterTheEnd() {
        let client = TestSession()
        let key = client.open(body: true)
        _ = client.receive(Wire.headers(1, ends: true))
        if let key { client.session.reset(key, into: client.output) }
        for _ in 0..<1_000 { #expect(client.receive(Wire.data(1, "x")) == []) }
        #expect(client.receive(Wire.data(1, "x")) == ["failed ENHANCE_YOUR_CALM"])
    }

    /// Useful frames in between, requests, uploads and time end the count.
    @Test(arguments: ["content", "request", "upload", "time"])
    func floodEnds(_ kind: String) {
        let client = TestSession()
        let key = client.open(body: true)
        _ = client.receive(Self.head)
        client.session.inputArrived(at: MonotonicTime(nanoseconds: 1))
        for round in 0..<3 {
            for _ in 0..<900 { _ = client.receive(Wire.ping()) }
            switch kind {
            case "content": _ = client.receive(Wire.data(1, "x"))
            case "request": client.open()
            case "upload": client.send(1, on: key)
            default:
                client.session.inputArrived(
                    at: MonotonicTime(nanoseconds: UInt64(round + 1) * 60_000_000_001))
            }
        }
        #expect(client.fault == nil)
    }

    @Test func floodOfInterimHeads() {
        let client = TestSession()
        client.open()
        let interim = Wire.headers(1, Wire.block((":status", "103")))
        for _ in 0..<64 { #expect(client.receive(interim) == ["interim 1 103"]) }
        #expect(client.receive(interim) == ["ended 1 malformed"])
    }

    @Test func floodOfEmptyContinuations() {
        let client = TestSession()
        client.open()
        _ = client.receive(Wire.headers(1, endsHeaders: false))
        for _ in 0..<8 { #expect(client.receive(Wire.continuation(1, endsHeaders: false)) == []) }
        #expect(
            client.receive(Wire.continuation(1, endsHeaders: false)) == [
                "failed ENHANCE_YOUR_CALM"
            ])
    }

    @Test func largeHeaderBlock() {
        var limits = SessionState.Limits()
        limits.headBytes = 5_000
        let client = TestSession(limits)
        client.open(limit: 5_000)
        let part = [UInt8](repeating: 0x88, count: 10_000)
        _ = client.receive(Wire.headers(1, part, endsHeaders: false))
        #expect(client.receive(Wire.continuation(1, part, endsHeaders: false)) == [])
        #expect(client.receive(Wire.continuation(1, [0x88])) == ["failed ENHANCE_YOUR_CALM"])
    }

    // MARK: - Large heads

    /// A request may allow larger heads than the session.
    @Test(arguments: [500_000, Int.max])
    func ownHeadLimit(_ limit: Int) {
        var limits = SessionState.Limits()
        limits.headBytes = 2_000
        let client = TestSession(limits)
        client.open(limit: limit)
        let value = String(repeating: "x", count: 300_000)
        let block = Wire.block((":status", "200"), ("a", value))
        var frames = Wire.headers(1, Array(block.prefix(10_000)), ends: true, endsHeaders: false)
        for start in stride(from: 10_000, to: block.count, by: 10_000) {
            let part = block[start..<min(start + 10_000, block.count)]
            frames += Wire.continuation(1, Array(part), endsHeaders: part.endIndex == block.count)
        }
        #expect(client.receive(frames) == ["head 1 200 ended"])
        #expect(client.fields.first?.value == value)
    }

    /// All heads of a response have one limit; the trailers have another.
    @Test func headLimit() {
        let client = TestSession()
        client.open(limit: 200)
        let interim = Wire.headers(
            1, Wire.block((":status", "103"), ("link", String(repeating: "x", count: 60))))
        #expect(client.receive(interim) == ["interim 1 103"])
        _ = client.written()
        #expect(client.receive(interim) == ["ended 1 tooLarge"])
        #expect(client.written() == ["RST_STREAM 1 CANCEL"])
        client.open(limit: 200)
        let trailers = Wire.headers(
            3, Wire.block(("a", String(repeating: "x", count: 150))), ends: true)
        #expect(
            client.receive(Wire.headers(3), trailers) == [
                "head 3 200 receiving", "trailers 3 ended",
            ])
        client.open(limit: 200)
        let large = Wire.headers(
            5, Wire.block(("a", String(repeating: "x", count: 200))), ends: true)
        #expect(
            client.receive(Wire.headers(5), large) == [
                "head 5 200 receiving", "ended 5 tooLarge",
            ])
    }

    /// One block of 16 KB refers 16,000 times to a field of 4,000 bytes.
    ///
    /// The stream ends, and far beyond the limit the connection. The table changes nevertheless.
    @Test func amplification() {
        let client = TestSession()
        client.open()
        let long: [UInt8] =
            [0x40] + Wire.text("x-a") + Wire.text(String(repeating: "y", count: 3_900))
        #expect(client.receive(Wire.headers(1, [0x88] + long, ends: true)) == ["head 1 200 ended"])
        client.open()
        let block = [0x88] + [UInt8](repeating: 0xBE, count: 100) + [0x40, 1, 0x62, 1, 0x63]
        #expect(client.receive(Wire.headers(3, block)) == ["ended 3 tooLarge"])
        client.open()
        #expect(client.receive(Wire.headers(5, [0x88, 0xBE], ends: true)) == ["head 5 200 ended"])
        #expect(client.fields.first?.value == "c")
        client.open()
        // The long field was evicted by the insertion.
        #expect(client.receive(Wire.headers(7, [0x88] + long, ends: true)) == ["head 7 200 ended"])
        client.open()
        let bomb = [0x88] + [UInt8](repeating: 0xBE, count: 16_000)
        #expect(client.receive(Wire.headers(9, bomb)) == ["failed ENHANCE_YOUR_CALM"])
    }

    /// `HTTPFields` holds less than 2^16 fields.
    @Test(arguments: [10_001, 70_000])
    func manyFields(_ count: Int) {
        let client = TestSession()
        client.open(limit: 16 << 20)
        var frames = Wire.headers(1, Wire.ok, ends: true, endsHeaders: false)
        for start in stride(from: 0, to: count, by: 10_000) {
            let part = [UInt8](repeating: 0x90, count: min(10_000, count - start))
            frames += Wire.continuation(1, part, endsHeaders: start + part.count == count)
        }
        #expect(client.receive(frames) == ["ended 1 malformed"])
    }

    // MARK: - Tables and settings

    /// RFC 9113 §4.3.1, RFC 7541 §4.2: the next head begins with the new size of the table.
    @Test func tableSize() {
        let client = TestSession(settings: Wire.settings((1, 0)))
        client.open()
        let (frames, _) = NaiveFramer.frames(Array(client.output.contents))
        #expect(frames.first?.payload.first == 0x20)
    }

    /// RFC 7541 §4.2: the lowest size between two heads is named, also if one frame raises it again.
    @Test func tableSizeInOneFrame() {
        let client = TestSession(settings: Wire.settings((1, 0), (1, 4096)))
        client.open()
        let (frames, _) = NaiveFramer.frames(Array(client.output.contents))
        #expect(frames.first?.payload.starts(with: [0x20, 0x3F, 0xE1, 0x1F]) == true)
    }

    @Test func connectProtocol() {
        let client = TestSession()
        #expect(!client.peer.allowsConnectProtocol)
        _ = client.receive(Wire.settings((8, 1), (6, 7_000)))
        #expect(client.peer.allowsConnectProtocol)
        #expect(client.peer.maximumHeaderList == 7_000)
    }

    /// RFC 9113 §4.3: a head that is larger than the server's frames continues in CONTINUATION.
    @Test func largeRequestHead() {
        let client = TestSession()
        var request = StreamState.Request()
        request.hasBody = false
        _ = client.session.open(request, into: client.output) { encoder, output in
            encoder.append(method: "GET", into: output)
            let value = String(repeating: "~", count: 40_000)
            encoder.append(HTTPField(name: .userAgent, value: value), into: output)
        }
        let (frames, rest) = NaiveFramer.frames(Array(client.output.contents))
        #expect(rest.isEmpty)
        #expect(frames.map(\.kind) == [1, 9, 9])
        #expect(frames.map(\.flags) == [0x1, 0, 0x4])
        #expect(frames.map(\.payload.count)[..<2] == [16_384, 16_384])
    }

    @Test func ping() {
        let client = TestSession()
        client.session.ping(0x0102_0304_0506_0708, into: client.output)
        #expect(client.written() == ["PING 0 0102030405060708"])
    }

    @Test func frameBoundary() {
        let client = TestSession()
        client.open()
        #expect(client.isAtFrameBoundary)
        _ = client.receive([0])
        #expect(!client.isAtFrameBoundary)
        _ = client.receive(Array(Wire.headers(1, endsHeaders: false).dropFirst()))
        #expect(!client.isAtFrameBoundary)
        _ = client.receive(Wire.continuation(1))
        #expect(client.isAtFrameBoundary)
    }
}
