import ErrandCore
import ErrandTesting
import ErrandTransport
import Foundation
import TestSupport
import Testing

@testable import ErrandCurl

/// Connect and idle limits.
@Suite(.limited, .serialized)
struct TimeoutTests {
    @Test func idleLimitEndsTransfer() async throws {
        let server = try CancelTests.silent()
        let record = try await CurlTransport().run(.get, server.url()) {
            $0.timeouts = Timeouts(connect: .seconds(5), idle: .milliseconds(150))
        }
        // The transfer's own timing, because the test itself may have to wait for a processor.
        let took = try #require(record.end?.timings.finished)
        #expect(record.error?.code == .timedOut)
        #expect(record.error?.timeout == .idle)
        #expect(took >= .milliseconds(150))
    }

    @Test func idleLimitAppliesToBody() async throws {
        let server = try RawServer { connection in
            _ = connection.readHead()
            connection.write("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhi")
            connection.waitForClose()
        }
        let record = try await CurlTransport().run(.get, server.url()) {
            $0.timeouts.idle = .milliseconds(100)
        }
        #expect(record.error?.timeout == .idle)
        #expect(record.body == Data("hi".utf8))
    }

    @Test func stalledHandshakeExceedsConnectLimit() async throws {
        let server = try CancelTests.silent()
        let record = try await CurlTransport().run(.get, "https://127.0.0.1:\(server.port)/") {
            $0.timeouts = Timeouts(connect: .milliseconds(120), idle: .seconds(20))
        }
        #expect(record.error?.code == .timedOut)
        #expect(record.error?.timeout == .connect)
    }

    @Test func activityRestartsIdleLimit() async throws {
        let server = try RawServer { connection in
            _ = connection.readHead()
            connection.write("HTTP/1.1 200 OK\r\nContent-Length: 20\r\n\r\n")
            for _ in 0..<20 {
                connection.write("x")
                Thread.sleep(forTimeInterval: 0.03)
            }
        }
        let record = try await CurlTransport().run(.get, server.url()) {
            $0.timeouts.idle = .milliseconds(400)
        }
        #expect(record.error == nil)
        #expect(record.body.count == 20)
    }

    /// The system accepts the whole body at once, and the server reads it steadily.
    @Test func acknowledgedBytesRestartIdleLimit() async throws {
        let body = Data(count: 1 << 20)
        let turns = DispatchSemaphore(value: 0)
        let server = try RawServer { connection in
            _ = connection.readHead()
            var left = body.count
            while left > 0 {
                turns.wait()
                let count = connection.readBody(min(left, 32 << 10)).count
                guard count > 0 else { return }
                left -= count
            }
            connection.write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
        }
        // The rest of the turns, also if the test fails.
        defer { for _ in 0..<32 { turns.signal() } }
        let recorder = RecordingReceiver()
        var request = TransportRequest(
            method: .put, url: try .test(server.url()), body: .data(body))
        request.timeouts.idle = .seconds(3)
        let transport = CurlTransport()
        _ = transport.start(request, receiver: recorder)
        try await recorder.until { $0.sent == Int64(body.count) || $0.end != nil }
        let silent = try CancelTests.silent()
        var passed = Duration.zero
        // The timeouts of other transfers prove that more time than the limit has passed.
        for _ in 0..<28 where passed < .seconds(3.5) {
            turns.signal()
            let other = try await transport.run(.get, silent.url()) {
                $0.timeouts.idle = .milliseconds(125)
            }
            passed += try #require(other.end?.timings.finished)
        }
        #expect(passed >= .seconds(3.5))
        #expect(recorder.record.end == nil)
        for _ in 0..<32 { turns.signal() }
        let record = try await recorder.ended()
        #expect(record.error == nil && record.body == Data("ok".utf8))
    }

    /// A server that reads nothing exceeds the limit, although it acknowledges the system's probes.
    @Test func unreadBytesDoNotRestartIdleLimit() async throws {
        let server = try CancelTests.silent()
        let body = Data(count: 32 << 20)
        let record = try await CurlTransport().run(.put, server.url(), body: .data(body)) {
            $0.timeouts.idle = .seconds(1)
        }
        #expect(record.error?.timeout == .idle)
    }

    @Test func receiverPauseSuspendsIdleLimit() async throws {
        let server = try CancelTests.endless()
        let recorder = RecordingReceiver(keepsBody: false) { $0.chunks == 1 ? .pause : .stop }
        var request = TransportRequest(url: try .test(server.url()))
        request.timeouts.idle = .milliseconds(50)
        let transport = CurlTransport()
        let transfer = transport.start(request, receiver: recorder)
        try await recorder.until { $0.chunks == 1 }
        // The timeout of another transfer, three times as long, proves that enough time has passed.
        let silent = try CancelTests.silent()
        _ = try await transport.run(.get, silent.url()) { $0.timeouts.idle = .milliseconds(150) }
        #expect(recorder.record.end == nil)
        transfer.resumeReceiving()
        #expect(try await recorder.ended().error?.code == .cancelled)
    }

    @Test func deadlinesOfOneAttempt() {
        let start = MonotonicTime(nanoseconds: 1_000_000_000)
        func later(_ milliseconds: Int) -> MonotonicTime {
            start.advanced(milliseconds: milliseconds)
        }
        var deadlines = Deadlines(
            Timeouts(connect: .milliseconds(100), idle: .milliseconds(30)), startingAt: start)
        #expect(deadlines.first == later(100))
        #expect(deadlines.check(at: later(99)) == .next(later(100)))
        #expect(deadlines.check(at: later(100)) == .expired(.connect))
        deadlines.connected(at: later(50))
        #expect(deadlines.check(at: later(79)) == .next(later(80)))
        deadlines.active(at: later(70))
        #expect(deadlines.check(at: later(80)) == .next(later(100)))
        deadlines.suspend()
        deadlines.active(at: later(71))
        #expect(deadlines.check(at: later(10_000)) == .next(.never))
        deadlines.resume(at: later(10_000))
        #expect(deadlines.check(at: later(10_030)) == .expired(.idle))
        let unlimited = Deadlines(Timeouts(connect: nil, idle: nil), startingAt: start)
        #expect(unlimited.check(at: later(1 << 40)) == .next(.never))
        let connectless = Deadlines(
            Timeouts(connect: nil, idle: .milliseconds(5)), startingAt: start)
        #expect(connectless.check(at: later(5)) == .expired(.idle))
    }

    @Test func idleLimitIsPostponedToTheBeginningOfTheWait() {
        let start = MonotonicTime(nanoseconds: 1_000_000_000)
        func later(_ milliseconds: Int) -> MonotonicTime {
            start.advanced(milliseconds: milliseconds)
        }
        var deadlines = Deadlines(
            Timeouts(connect: nil, idle: .milliseconds(100)), startingAt: start)
        func postponed(after waiting: Duration?, at time: Int) -> MonotonicTime? {
            deadlines.postponeIdle(waitingTime: waiting, at: later(time))
        }
        // The receiver has been waiting for 30 of the 100 milliseconds, and later for all of them.
        var next = postponed(after: .milliseconds(30), at: 100)
        #expect(next == later(170))
        #expect(deadlines.check(at: later(170)) == .expired(.idle))
        next = postponed(after: .milliseconds(100), at: 170)
        #expect(next == nil)
        // A receiver that does not wait has the whole limit from now.
        next = postponed(after: nil, at: 170)
        #expect(next == later(270))
        #expect(deadlines.check(at: later(269)) == .next(later(270)))
        // One that has always been waiting gets no more time; activity within the wait counts.
        next = postponed(after: .seconds(Int64.max), at: 270)
        #expect(next == nil)
        deadlines.active(at: later(200))
        next = postponed(after: .milliseconds(110), at: 300)
        #expect(next == nil)
    }

    @Test(
        arguments: [
            (.zero, 1), (.seconds(-1), 1), (.microseconds(1), 1), (.milliseconds(1), 1),
            (.microseconds(1001), 2), (.seconds(30), 30_000), (.seconds(Int64.max), Int(Int32.max)),
            (.milliseconds(Int32.max), Int(Int32.max)), (.seconds(3_000_000), Int(Int32.max)),
        ] as [(Duration, Int)])
    func millisecondsAreRoundedUp(duration: Duration, milliseconds: Int) {
        #expect(duration.wholeMilliseconds == milliseconds)
    }

    @Test func timeArithmeticDoesNotOverflow() {
        let late = MonotonicTime(nanoseconds: .max - 5)
        #expect(late.advanced(by: .seconds(1)) == .never)
        #expect(late.advanced(milliseconds: .max) == .never)
        #expect(late.advanced(by: .seconds(Int64.max)) == .never)
        #expect(late.advanced(by: .seconds(-1)) == late)
        #expect(MonotonicTime.never.milliseconds(from: late) == -1)
        #expect(late.milliseconds(from: MonotonicTime(nanoseconds: 0)) == Int32.max)
        #expect(
            MonotonicTime(nanoseconds: 1).milliseconds(from: MonotonicTime(nanoseconds: 0)) == 1)
    }
}
