import ErrandCore
import Foundation
import HTTPTypes
import Testing

/// RFC 9111 §4.2 as tables: how long answers are fresh, and how old they are.
@Suite struct CacheLifetimeTests {
    /// The same as ``date``.
    static let then = Date(timeIntervalSince1970: 784_111_777)
    static let date = "Sun, 06 Nov 1994 08:49:37 GMT"
    static let tenLater = "Sun, 06 Nov 1994 08:49:47 GMT"
    static let dayBefore = "Sat, 05 Nov 1994 08:49:37 GMT"

    private static func headers(_ pairs: [(String, String)]) -> HTTPFields {
        var fields = HTTPFields()
        for (text, value) in pairs {
            if let name = HTTPField.Name(text) {
                fields.append(HTTPField(name: name, value: value))
            }
        }
        return fields
    }

    struct Row: Sendable {
        var pairs: [(String, String)]
        var expected: Double
        init(_ pairs: [(String, String)], _ expected: Double) {
            (self.pairs, self.expected) = (pairs, expected)
        }
    }

    static let lifetimes: [Row] = [
        Row([("Cache-Control", "max-age=60")], 60.0),
        Row([("Cache-Control", "max-age=60"), ("Expires", date)], 60),
        Row([("Cache-Control", "max-age=x"), ("Expires", tenLater), ("Date", date)], 0),
        Row([("Cache-Control", "s-maxage=60, max-age=5")], 5),
        Row([("Expires", tenLater), ("Date", date)], 10), Row([("Expires", tenLater)], 10),
        Row([("Expires", date), ("Date", tenLater)], 0), Row([("Expires", "0")], 0),
        Row([("Expires", "soon"), ("Last-Modified", dayBefore)], 0),
        Row([("Expires", "Sunday, 06-Nov-94 08:49:47 GMT"), ("Date", date)], 10),
        Row([("Expires", "Sun Nov  6 08:49:47 1994"), ("Date", date)], 10),
        Row([("Expires", "SUN, 06 NOV 1994 08:49:47 gmt"), ("Date", date)], 10),
        // Nearly a date is none (§5.3).
        Row([("Expires", "Sun, 06-Nov-1994 08:49:47 GMT"), ("Date", date)], 0),
        Row([("Expires", "Sun, 06 Nov 94 08:49:47 GMT"), ("Date", date)], 0),
        Row([("Last-Modified", dayBefore), ("Date", date)], 8640),
        Row([("Last-Modified", dayBefore)], 8640),
        Row([("Last-Modified", "Sun, 06 Nov 1904 08:49:37 GMT")], 86400),
        Row([("Last-Modified", tenLater), ("Date", date)], 0), Row([("Date", date)], 0), Row([], 0),
    ]

    @Test(arguments: lifetimes)
    func lifetime(row: Row) {
        let seconds = CacheLifetime.seconds(
            status: 200, headers: Self.headers(row.pairs), receivedAt: Self.then,
            settings: HTTPCacheSettings())
        #expect(seconds == row.expected)
    }

    @Test(arguments: [(404, 8640.0), (301, 8640), (302, 0), (500, 0), (201, 0), (418, 0)])
    func whatMayBeGuessed(status: Int, expected: Double) {
        let headers = Self.headers([("Last-Modified", Self.dayBefore)])
        #expect(
            CacheLifetime.seconds(
                status: status, headers: headers, receivedAt: Self.then,
                settings: HTTPCacheSettings()) == expected)
        let marked = Self.headers([("Last-Modified", Self.dayBefore), ("Cache-Control", "public")])
        #expect(
            CacheLifetime.seconds(
                status: status, headers: marked, receivedAt: Self.then,
                settings: HTTPCacheSettings()) == 8640)
    }

    @Test func guessesAreSettings() {
        var settings = HTTPCacheSettings()
        settings.heuristicFraction = 0.2
        settings.heuristicLimit = .seconds(100)
        settings.lifetimeWithoutHeaders = .seconds(180)
        let headers = Self.headers([("Last-Modified", Self.dayBefore)])
        #expect(
            CacheLifetime.seconds(
                status: 200, headers: headers, receivedAt: Self.then, settings: settings) == 100)
        #expect(
            CacheLifetime.seconds(
                status: 200, headers: [:], receivedAt: Self.then, settings: settings) == 180)
    }

    struct AgeRow: Sendable {
        var pairs: [(String, String)]
        /// Seconds after `then`.
        var asked: Double, came: Double, now: Double
        var expected: Double
        init(
            _ pairs: [(String, String)], _ asked: Double, _ came: Double, _ now: Double,
            _ expected: Double
        ) {
            (self.pairs, self.asked, self.came, self.now, self.expected) = (
                pairs, asked, came, now, expected
            )
        }
    }

    static let ages: [AgeRow] = [
        AgeRow([], 0, 0, 5, 5), AgeRow([("Date", date)], 0, 0, 5, 5),
        // A slow way counts from when the answer was asked for; `Date` says what it says.
        AgeRow([("Date", date)], 0, 3, 5, 5), AgeRow([("Age", "10")], 0, 3, 5, 15),
        AgeRow([("Age", "10"), ("Date", date)], 100, 100, 100, 100),
        AgeRow([("Age", "10, 20")], 0, 0, 0, 10), AgeRow([("Age", "x")], 0, 0, 7, 7),
        AgeRow([("Age", "-4")], 0, 0, 7, 7), AgeRow([("Date", tenLater)], 0, 0, 0, 0),
        AgeRow([("Age", "99999999999999999999")], 0, 0, 0, 2_147_483_648),
        AgeRow([], 10, 10, 9, .infinity), AgeRow([], 10, 5, 10, 5),
    ]

    @Test(arguments: ages)
    func age(row: AgeRow) {
        let age = CacheLifetime.age(
            headers: Self.headers(row.pairs), requestedAt: Self.then + row.asked,
            receivedAt: Self.then + row.came, now: Self.then + row.now)
        #expect(age == row.expected)
    }
}
