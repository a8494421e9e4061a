import ErrandCore
import Foundation
import HTTPTypes
import TestSupport
import Testing

/// Freshness lifetime and age of stored responses (RFC 9111 §4.2), as tables.
@Suite struct CacheLifetimeTests {
    /// The time of ``date``.
    static let reference = Date(timeIntervalSince1970: 784_111_777)
    static let date = "Sun, 06 Nov 1994 08:49:37 GMT"
    static let tenLater = "Sun, 06 Nov 1994 08:49:47 GMT"
    static let dayBefore = "Sat, 05 Nov 1994 08:49:37 GMT"

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
        Row([("Expires", tenLater), ("Date", dayBefore)], 86410),
        Row([("Expires", "soon"), ("Last-Modified", dayBefore)], 0),
        Row([("Expires", "Sunday, 06-Nov-94 08:49:47 GMT"), ("Date", date)], 10),
        Row([("Expires", "Sun Nov  6 08:49:47 1994"), ("Date", date)], 10),
        Row([("Expires", "SUN, 06 NOV 1994 08:49:47 gmt"), ("Date", date)], 10),
        // A malformed date means that the response has expired (§5.3).
        Row([("Expires", "Sun, 06-Nov-1994 08:49:47 GMT"), ("Date", date)], 0),
        Row([("Expires", "Sun, 06 Nov 94 08:49:47 GMT"), ("Date", date)], 0),
        Row([("Last-Modified", dayBefore), ("Date", date)], 8640),
        Row([("Last-Modified", dayBefore)], 8640),
        Row([("Last-Modified", "Sun, 06 Nov 1904 08:49:37 GMT")], 86400),
        Row([("Last-Modified", tenLater), ("Date", date)], 0), Row([("Date", date)], 0), Row([], 0),
    ]

    @Test(arguments: lifetimes)
    func freshnessLifetime(row: Row) {
        let seconds = CacheLifetime.seconds(
            status: 200, headers: HTTPFields(text: row.pairs), receivedAt: Self.reference,
            settings: CachePolicy.HTTPSettings())
        #expect(seconds == row.expected)
    }

    @Test(arguments: [(404, 8640.0), (301, 8640), (302, 0), (500, 0), (201, 0), (418, 0)])
    func heuristicLifetimeByStatus(status: Int, expected: Double) {
        let headers = HTTPFields(text: [("Last-Modified", Self.dayBefore)])
        #expect(
            CacheLifetime.seconds(
                status: status, headers: headers, receivedAt: Self.reference,
                settings: CachePolicy.HTTPSettings()) == expected)
        let publicHeaders = HTTPFields(text: [
            ("Last-Modified", Self.dayBefore), ("Cache-Control", "public"),
        ])
        #expect(
            CacheLifetime.seconds(
                status: status, headers: publicHeaders, receivedAt: Self.reference,
                settings: CachePolicy.HTTPSettings()) == 8640)
    }

    @Test func heuristicLifetimeFollowsTheSettings() {
        var settings = CachePolicy.HTTPSettings()
        settings.heuristicFraction = 0.2
        settings.heuristicLimit = .seconds(100)
        settings.lifetimeWithoutHeaders = .seconds(180)
        let headers = HTTPFields(text: [("Last-Modified", Self.dayBefore)])
        #expect(
            CacheLifetime.seconds(
                status: 200, headers: headers, receivedAt: Self.reference, settings: settings)
                == 100)
        #expect(
            CacheLifetime.seconds(
                status: 200, headers: [:], receivedAt: Self.reference, settings: settings) == 180)
    }

    struct AgeRow: Sendable {
        var pairs: [(String, String)]
        /// Seconds after `reference`.
        var requested: Double, received: Double, now: Double
        var expected: Double
        init(
            _ pairs: [(String, String)], _ requested: Double, _ received: Double, _ now: Double,
            _ expected: Double
        ) {
            (self.pairs, self.expected) = (pairs, expected)
            (self.requested, self.received, self.now) = (requested, received, now)
        }
    }

    static let ages: [AgeRow] = [
        AgeRow([], 0, 0, 5, 5), AgeRow([("Date", date)], 0, 0, 5, 5),
        // The response delay counts as age, and `Date` gives the apparent age (§4.2.3).
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
            headers: HTTPFields(text: row.pairs), requestedAt: Self.reference + row.requested,
            receivedAt: Self.reference + row.received, now: Self.reference + row.now)
        #expect(age == row.expected)
    }
}
