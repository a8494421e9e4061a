import ErrandTesting
import ErrandTransport
import HTTPTypes
import TestSupport
import Testing

@testable import ErrandCurl

/// An idle connection is closed before the time that the server has named in `Keep-Alive`.
@Suite(.limited)
struct KeepAliveTests {
    // MARK: - The field

    @Test(
        arguments: [
            ("timeout=5, max=100", 5), ("max=100,timeout=5", 5), ("Timeout=5", 5),
            ("TIMEOUT=\"60\"", 60), (" timeout\t= 7 ", 7), ("timeout=0", 0), ("timeout=007", 7),
            ("timeout=30, timeout=5, timeout=9", 5), ("note=\"a, timeout=1\", timeout=9", 9),
            ("timeout=x, timeout=8", 8), (",, timeout=4,", 4),
            ("timeout=18446744073709551615", .max),
        ] as [(String, UInt64)])
    func timeoutIsRead(value: String, seconds: UInt64) {
        #expect(KeepAlive.timeout(in: value) == seconds)
    }

    @Test(arguments: [
        "", ",", "max=100", "timeout", "timeout=", "timeout=\"\"", "timeout=\"5", "timeout=5\"",
        "timeout=-1", "timeout=+5", "timeout=5.5", "timeout=5s", "timeout=5;max=1",
        "timeout=18446744073709551616", "xtimeout=5", "timeouts=5", "\"timeout=5\"", "=5",
    ])
    func malformedTimeoutIsIgnored(value: String) {
        #expect(KeepAlive.timeout(in: value) == nil)
    }

    @Test func connectionIsUsedForASecondLess() throws {
        let name = try #require(HTTPField.Name("keep-alive"))
        let times: [(String, UInt64?)] = [
            ("timeout=5", 4_000_000_000), ("timeout=1", 0), ("timeout=0", 0), ("max=5", nil),
            ("timeout=18446744073709551615", nil),
        ]
        for (value, nanoseconds) in times {
            #expect(KeepAlive.idleNanoseconds(of: [name: value]) == nanoseconds, "\(value)")
        }
        var fields: HTTPFields = [.server: "timeout=2"]
        #expect(KeepAlive.idleNanoseconds(of: fields) == nil)
        fields.append(HTTPField(name: name, value: "max=3"))
        fields.append(HTTPField(name: name, value: "timeout=3"))
        #expect(KeepAlive.idleNanoseconds(of: fields) == 2_000_000_000)
    }

    // MARK: - The pool

    private func seconds(_ seconds: UInt64) -> MonotonicTime {
        MonotonicTime(nanoseconds: seconds * 1_000_000_000)
    }

    @Test func eachConnectionExpiresAtItsOwnTime() throws {
        var pool = ConnectionPool<Int, String>(limits: .init(idleNanoseconds: 10_000_000_000))
        let key = ConnectionKey(try HTTPURL(parsing: "http://a/"), TransportOptions())
        let lifetimes: [(number: Int, lifetime: UInt64?)] = [
            (1, nil), (2, 4_000_000_000), (3, 60_000_000_000),
        ]
        for (number, _) in lifetimes {
            #expect(pool.opened(number, key, at: seconds(0)) == nil)
            #expect(pool.reuse(key) == number)
        }
        for (number, lifetime) in lifetimes {
            #expect(pool.release(number, key, at: seconds(1), lifetime: lifetime) == nil)
        }
        #expect(pool.nextExpiry == seconds(5))
        #expect(pool.expiry(of: seconds(1), lifetime: 4_000_000_000) == seconds(5))
        #expect(pool.expiry(of: seconds(1), lifetime: 60_000_000_000) == seconds(11))
        #expect(pool.nextExpired(at: seconds(4)) == nil)
        #expect(pool.nextExpired(at: seconds(5)) == 2)
        #expect(pool.nextExpired(at: seconds(5)) == nil)
        #expect(pool.nextExpiry == seconds(11) && pool.idle == 2)
        #expect(pool.nextExpired(at: seconds(11)) == 1)
        #expect(pool.nextExpired(at: seconds(11)) == 3)
        #expect(pool.nextExpired(at: seconds(11)) == nil)
        #expect(pool.nextExpiry == .never && pool.count == 0)
    }

    /// The lifetime of an idle connection does not count for the request that already waits.
    @Test func waitingRequestUsesAnyConnection() throws {
        var pool = ConnectionPool<Int, String>(limits: .init(perHost: 1))
        let key = ConnectionKey(try HTTPURL(parsing: "http://a/"), TransportOptions())
        #expect(pool.opened(1, key, at: seconds(0)) == nil)
        #expect(pool.reuse(key) == 1)
        _ = pool.wait(key, for: "a")
        #expect(pool.release(1, key, at: seconds(0), lifetime: 0) == "a")
        #expect(pool.release(1, key, at: seconds(0), lifetime: 0) == nil)
        #expect(pool.nextExpired(at: seconds(0)) == 1)
    }

    // MARK: - The engine

    @Test(arguments: [("timeout=1", false), ("timeout=60, max=9", true), ("timeout=-1", true)])
    func connectionIsClosedAtOnceOrKept(value: String, isKept: Bool) async throws {
        let server = try RawServer { connection in
            while connection.readHead() != nil {
                connection.write(
                    "HTTP/1.1 200 OK\r\nKeep-Alive: \(value)\r\nContent-Length: 2\r\n\r\nhi")
            }
        }
        let transport = CurlTransport()
        let first = try await transport.run(.get, server.url())
        #expect(first.text == "hi", "\(first.errorText)")
        let second = try await transport.run(.get, server.url())
        #expect(second.text == "hi", "\(second.errorText)")
        #expect(second.end?.timings.reusedConnection == isKept)
        #expect(server.connections == (isKept ? 1 : 2))
    }
}
