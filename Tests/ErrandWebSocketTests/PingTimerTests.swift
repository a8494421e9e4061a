import TestSupport
import Testing

@testable import ErrandWebSocket

/// PINGs, round trips and the loss of the server, with the times of a test.
struct PingTimerTests {
    private static func limits(_ interval: Duration?, _ timeout: Duration)
        -> WebSocketState.Limits
    {
        var limits = WebSocketState.Limits()
        limits.pingInterval = interval
        limits.pingTimeout = timeout
        return limits
    }

    private static func pong(_ number: UInt8) -> [UInt8] {
        ServerBytes.frame(10, [0, 0, 0, 0, 0, 0, 0, number])
    }

    private static func seconds(_ count: Int) -> String { "wait until \(Duration.seconds(count))" }

    private let connection = TestConnection(Self.limits(.seconds(20), .seconds(10)))

    @Test func pingsInEachInterval() {
        #expect(connection.check() == Self.seconds(120))
        #expect(connection.written() == [])
        connection.now = .seconds(120)
        #expect(connection.check() == Self.seconds(130))
        #expect(connection.written() == ["ping \0\0\0\0\0\0\0\u{1}"])
        #expect(connection.check() == Self.seconds(130))
        #expect(connection.written() == [])
        connection.now = .milliseconds(120_250)
        #expect(connection.receive(Self.pong(1)) == ["round trip \(Duration.milliseconds(250))"])
        // The PONG counts once.
        #expect(connection.receive(Self.pong(1)) == [])
        #expect(connection.check() == Self.seconds(140))
        connection.now = .seconds(140)
        #expect(connection.check() == Self.seconds(150))
        #expect(connection.written() == ["ping \0\0\0\0\0\0\0\u{2}"])
        // The PONG of an earlier PING is no round trip.
        #expect(connection.receive(Self.pong(1)) == [])
        #expect(connection.receive(ServerBytes.frame(10, [2])) == [])
        #expect(connection.receive(Self.pong(2)) == ["round trip \(Duration.zero)"])
    }

    /// A timeout that is longer than the interval does not delay the next PING.
    @Test func pingsInEachIntervalWithALongTimeout() {
        let connection = TestConnection(Self.limits(.seconds(20), .seconds(50)))
        connection.now = .seconds(120)
        #expect(connection.check() == Self.seconds(140))
        connection.now = .seconds(121)
        #expect(connection.receive(Self.pong(1)) == ["round trip \(Duration.seconds(1))"])
        connection.now = .seconds(140)
        #expect(connection.check() == Self.seconds(160))
        #expect(connection.written().last == "ping \0\0\0\0\0\0\0\u{2}")
        // Without a PONG, there is no third, and the silence lasts 50 s.
        connection.now = .seconds(160)
        #expect(connection.check() == Self.seconds(190))
        #expect(connection.written() == [])
        connection.now = .seconds(190)
        #expect(connection.check() == "failed 1011")
    }

    @Test func silenceEndsTheConnection() {
        connection.now = .seconds(125)
        #expect(connection.check() == Self.seconds(135))
        _ = connection.written()
        connection.now = .milliseconds(134_999)
        #expect(connection.check() == Self.seconds(135))
        connection.now = .seconds(135)
        #expect(connection.check() == "failed 1011")
        #expect(connection.written().map { $0.prefix(10) } == ["close 1011"])
        #expect(connection.check() == "wait")
        #expect(connection.receive(Self.pong(1)) == [])
    }

    /// A server within a large message cannot send PONG.
    @Test func bytesAreASignOfLife() {
        connection.now = .seconds(120)
        _ = connection.check()
        let message = ServerBytes.frame(2, [1], announced: 100)
        connection.now = .seconds(129)
        #expect(connection.receive(message) == [])
        connection.now = .seconds(131)
        #expect(connection.check() == Self.seconds(139))
        // No second PING waits beside the first.
        #expect(connection.written() == ["ping \0\0\0\0\0\0\0\u{1}"])
        connection.now = .seconds(139)
        #expect(connection.check() == "failed 1011")
    }

    /// An owner that does not read cannot see the PONG.
    @Test func silenceHasNoMeaningWhileNothingIsRead() {
        connection.now = .seconds(120)
        _ = connection.check()
        connection.now = .seconds(121)
        connection.setReading(false)
        connection.now = .seconds(1000)
        // It may read again without a change of the times, so they are checked again.
        #expect(connection.check() == Self.seconds(1010))
        connection.setReading(true)
        #expect(connection.check() == Self.seconds(1010))
        // It reads on; only the first call counts.
        connection.now = .seconds(1005)
        connection.setReading(true)
        connection.now = .seconds(1010)
        #expect(connection.check() == "failed 1011")
    }

    @Test func withoutAnInterval() {
        let connection = TestConnection(Self.limits(nil, .seconds(10)))
        connection.now = .seconds(100_000)
        #expect(connection.check() == "wait")
        #expect(connection.written() == [])
    }
}
