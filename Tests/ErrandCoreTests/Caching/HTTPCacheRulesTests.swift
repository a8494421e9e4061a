import ErrandCore
import Foundation
import HTTPTypes
import TestSupport
import Testing

/// Storing, reusing, updating and invalidating responses (RFC 9111 §3, §4 and §5.2, RFC 5861).
@Suite struct HTTPCacheRulesTests {
    static let reference = Date(timeIntervalSince1970: 784_111_777)
    static let modified = "Sat, 05 Nov 1994 08:49:37 GMT"

    static let note = HTTPField.Name("X-Note") ?? .date

    struct StoreRow: Sendable {
        var status = 200
        var response: [String: String]
        var request: [String: String] = [:]
        var isStored: Bool
        init(
            _ status: Int, _ isStored: Bool, _ response: [String: String],
            _ request: [String: String] = [:]
        ) {
            (self.status, self.isStored) = (status, isStored)
            (self.response, self.request) = (response, request)
        }
    }

    static let stores: [StoreRow] = [
        StoreRow(200, true, ["Cache-Control": "max-age=60"]),
        StoreRow(200, true, ["Cache-Control": "max-age=60, private"]),
        StoreRow(200, false, ["Cache-Control": "max-age=60, no-store"]),
        StoreRow(200, false, ["Cache-Control": "max-age=60"], ["Cache-Control": "no-store"]),
        StoreRow(200, true, ["Cache-Control": "max-age=60, no-store, must-understand"]),
        StoreRow(599, false, ["Cache-Control": "max-age=60, no-store, must-understand"]),
        StoreRow(200, false, ["Cache-Control": "max-age=60", "Vary": "*"]),
        StoreRow(200, false, ["Cache-Control": "max-age=60", "Vary": "Accept, *"]),
        StoreRow(200, true, ["ETag": "\"1\""]), StoreRow(200, true, ["Last-Modified": modified]),
        StoreRow(200, true, ["ETag": "\"1\"", "Cache-Control": "no-cache"]),
        StoreRow(200, false, ["Cache-Control": "no-cache"]), StoreRow(200, false, [:]),
        StoreRow(200, false, ["Cache-Control": "max-age=0"]),
        StoreRow(200, false, ["Expires": "0"]),
        StoreRow(200, true, ["Cache-Control": "max-age=0, stale-if-error=9"]),
        StoreRow(201, false, ["ETag": "\"1\""]), StoreRow(302, false, ["ETag": "\"1\""]),
        StoreRow(302, true, ["ETag": "\"1\"", "Cache-Control": "max-age=5"]),
        StoreRow(404, true, ["ETag": "\"1\""]), StoreRow(503, true, ["Cache-Control": "max-age=5"]),
        StoreRow(206, false, ["Cache-Control": "max-age=5"]),
        StoreRow(304, false, ["Cache-Control": "max-age=5"]),
        StoreRow(200, true, ["Cache-Control": "max-age=60"], ["Authorization": "Basic eA=="]),
    ]

    @Test(arguments: stores)
    func storableResponses(row: StoreRow) {
        let isStored = HTTPCacheStorage.mayStore(
            status: row.status, headers: HTTPFields(text: row.response),
            requestHeaders: HTTPFields(text: row.request),
            receivedAt: Self.reference, settings: CachePolicy.HTTPSettings())
        #expect(isStored == row.isStored)
    }

    struct ReuseRow: Sendable {
        var response: String, request: String
        var age: Double
        var expected: CacheStrategy
        init(_ response: String, _ request: String, _ age: Double, _ expected: CacheStrategy) {
            (self.response, self.request) = (response, request)
            (self.age, self.expected) = (age, expected)
        }
    }

    static let reuses: [ReuseRow] = [
        ReuseRow("max-age=10", "", 0, .fresh(age: .zero)),
        ReuseRow("max-age=10", "", 9, .fresh(age: .seconds(9))),
        ReuseRow("max-age=10", "", 10, .revalidate), ReuseRow("max-age=10", "", -1, .revalidate),
        ReuseRow("max-age=10, no-cache", "", 0, .revalidate),
        ReuseRow("max-age=10", "no-cache", 0, .revalidate),
        ReuseRow("max-age=10", "max-age=5", 5, .fresh(age: .seconds(5))),
        ReuseRow("max-age=10", "max-age=5", 6, .revalidate),
        ReuseRow("max-age=10", "max-age=0", 1, .revalidate),
        ReuseRow("max-age=10", "min-fresh=5", 5, .fresh(age: .seconds(5))),
        ReuseRow("max-age=10", "min-fresh=5", 6, .revalidate),
        ReuseRow("max-age=10", "max-stale", 1000, .stale(age: .seconds(1000))),
        ReuseRow("max-age=10", "max-stale=5", 15, .stale(age: .seconds(15))),
        ReuseRow("max-age=10", "max-stale=5", 16, .revalidate),
        ReuseRow("max-age=10, must-revalidate", "max-stale", 11, .revalidate),
        ReuseRow("max-age=10, must-revalidate", "", 9, .fresh(age: .seconds(9))),
        ReuseRow("max-age=10, stale-while-revalidate=5", "", 9, .fresh(age: .seconds(9))),
        ReuseRow(
            "max-age=10, stale-while-revalidate=5", "", 15, .staleWhileRevalidate(age: .seconds(15))
        ),
        ReuseRow("max-age=10, stale-while-revalidate=5", "", 16, .revalidate),
        ReuseRow("max-age=10, stale-while-revalidate=5, must-revalidate", "", 12, .revalidate),
        ReuseRow("max-age=10, stale-while-revalidate=5", "max-age=12", 11, .revalidate),
        ReuseRow("max-age=10, stale-while-revalidate=5", "no-cache", 12, .revalidate),
        ReuseRow("max-age=nonsense", "", 0, .revalidate),
        ReuseRow("max-age=10", "max-stale=nonsense", 11, .revalidate),
    ]

    @Test(arguments: reuses)
    func strategies(row: ReuseRow) {
        let entry = Self.entry(["Cache-Control": row.response])
        let decision = CacheStrategy.decide(
            entry, requestHeaders: row.request.isEmpty ? [:] : [.cacheControl: row.request],
            now: Self.reference + row.age, settings: CachePolicy.HTTPSettings())
        #expect(decision == row.expected)
    }

    struct ErrorRow: Sendable {
        var response: String, request: String
        var age: Double
        var allowed: Int
        var isUsed: Bool
        init(_ response: String, _ request: String, _ age: Double, _ allowed: Int, _ isUsed: Bool) {
            (self.response, self.request, self.age) = (response, request, age)
            (self.allowed, self.isUsed) = (allowed, isUsed)
        }
    }

    static let errors: [ErrorRow] = [
        ErrorRow("max-age=10", "", 11.0, 0, false),
        ErrorRow("max-age=10", "", 9, 0, true),
        ErrorRow("max-age=10, stale-if-error=5", "", 15, 0, true),
        ErrorRow("max-age=10, stale-if-error=5", "", 16, 0, false),
        ErrorRow("max-age=10", "stale-if-error=5", 15, 0, true),
        ErrorRow("max-age=10", "", 100, 90, true),
        ErrorRow("max-age=10", "", 101, 90, false),
        ErrorRow("max-age=10, must-revalidate", "", 11, 90, false),
        ErrorRow("max-age=10, no-cache", "", 1, 90, false),
        ErrorRow("max-age=10", "no-cache", 1, 90, false),
    ]

    @Test(arguments: errors)
    func staleResponsesOnErrors(row: ErrorRow) {
        var settings = CachePolicy.HTTPSettings()
        settings.staleIfError = .seconds(row.allowed)
        let found = CacheStrategy.ageForStaleIfError(
            Self.entry(["Cache-Control": row.response]),
            requestHeaders: row.request.isEmpty ? [:] : [.cacheControl: row.request],
            now: Self.reference + row.age,
            settings: settings)
        #expect(found == (row.isUsed ? .seconds(row.age) : nil))
    }

    @Test func connectionFieldsAreNotStored() {
        let kept = HTTPCacheStorage.stored(
            HTTPFields(text: [
                "Connection": "close, X-Hop", "X-Hop": "1", "Keep-Alive": "x",
                "Transfer-Encoding": "chunked", "Proxy-Authorization": "Basic eA==",
                "Upgrade": "h2c", "Set-Cookie": "a=b", "ETag": "\"1\"", "Age": "5",
            ]), requestedAt: Self.reference, receivedAt: Self.reference + 2)
        // A missing `Date` is set to the time of receipt.
        #expect(kept == [.eTag: "\"1\"", .date: "Sun, 06 Nov 1994 08:49:39 GMT", .age: "7"])
    }

    @Test func revalidationUpdatesTheStoredHeaders() throws {
        var entry = Self.entry([
            "ETag": "\"1\"", "Content-Length": "3", "Content-Encoding": "x", "X-Note": "old",
            "Age": "900",
            "Date": Self.modified, "Content-Type": "text/plain",
        ])
        entry.body = Data("abc".utf8)
        let confirmed = try #require(
            Revalidation.confirmed(
                entry,
                by: HTTPFields(text: [
                    "ETag": "W/\"1\"", "Content-Length": "0", "Content-Encoding": "y",
                    "X-Note": "new",
                    "Cache-Control": "max-age=60", "Connection": "close",
                ]), requestedAt: Self.reference, receivedAt: Self.reference))
        #expect(
            confirmed.headers[.contentLength] == "3" && confirmed.headers[.contentEncoding] == "x")
        #expect(confirmed.headers[Self.note] == "new" && confirmed.headers[.connection] == nil)
        #expect(confirmed.headers[.contentType] == "text/plain" && confirmed.headers[.age] == nil)
        #expect(
            confirmed.headers[.date] == "Sun, 06 Nov 1994 08:49:37 GMT"
                && confirmed.body == entry.body)
        let reuse = CacheStrategy.decide(
            confirmed, requestHeaders: [:], now: Self.reference + 59,
            settings: CachePolicy.HTTPSettings())
        #expect(reuse == .fresh(age: .seconds(59)))
        #expect(
            Revalidation.confirmed(
                entry, by: [.eTag: "\"2\""], requestedAt: Self.reference,
                receivedAt: Self.reference) == nil)
    }

    @Test func conditionsUseTheValidators() {
        #expect(
            Revalidation.conditions(
                for: Self.entry(["ETag": "W/\"1\"", "Last-Modified": Self.modified]))
                == [.ifNoneMatch: "W/\"1\"", .ifModifiedSince: Self.modified])
        #expect(Revalidation.conditions(for: Self.entry(["Last-Modified": "yesterday"])).isEmpty)
    }

    @Test func unsafeMethodsInvalidateURIsOfTheSameOrigin() throws {
        let target = try HTTPURL(parsing: "https://a.example/list")
        let headers = HTTPFields(text: [
            "Location": "/item/1", "Content-Location": "https://b.example/x",
        ])
        let addresses = CacheInvalidation.addresses(target: target, status: 201, headers: headers)
        #expect(addresses.map(\.string) == ["https://a.example/list", "https://a.example/item/1"])
        #expect(CacheInvalidation.addresses(target: target, status: 404, headers: headers).isEmpty)
    }

    /// Bytes that are not UTF-8 are escaped as they are (RFC 9110 §5.5).
    @Test func invalidatedURIsKeepTheirBytes() throws {
        let headers = HTTPFields([
            HTTPField(name: .location, value: Array("/jos".utf8) + [0xE9])
        ])
        let addresses = CacheInvalidation.addresses(
            target: try HTTPURL(parsing: "https://a.example/"), status: 201, headers: headers)
        #expect(addresses.map(\.string) == ["https://a.example/", "https://a.example/jos%E9"])
    }

    @Test(arguments: [HTTPMethod.get, .head, .options, "TRACE", .query])
    func safeMethodsInvalidateNothing(method: HTTPMethod) {
        #expect(method.isSafe && !CacheInvalidation.mayChange(method))
    }

    @Test(arguments: [HTTPMethod.post, .put, .patch, .delete, "PURGE", "query"])
    func otherMethodsMayInvalidate(method: HTTPMethod) {
        #expect(!method.isSafe && CacheInvalidation.mayChange(method))
    }

    @Test func variantIndexRoundTripsThroughTheStore() throws {
        var index = VariantIndex(
            generation: "g", VaryingFields(names: ["accept", "accept-language"]))
        let isNew = index.note(VaryingFields(names: ["accept"]))
        let isNewAgain = index.note(VaryingFields(names: ["accept"]))
        #expect(isNew && !isNewAgain)
        var entry = Self.entry([:])
        #expect(VariantIndex(entry) == nil)
        entry.status = VariantIndex.status
        entry.body = index.body
        #expect(VariantIndex(entry) == index)
        entry.body = Data()
        #expect(VariantIndex(entry) == nil)
    }

    @Test func selectionIgnoresTheFormatOfLists() throws {
        let fields = VaryingFields([.vary: "Accept-Language, accept"])
        var one = HTTPFields()
        one.append(HTTPField(name: .accept, value: "a,  b"))
        one.append(HTTPField(name: .accept, value: "c"))
        #expect(fields.selection(of: one) == fields.selection(of: [.accept: "a, b , c"]))
        #expect(
            fields.selection(of: one)
                != fields.selection(of: [.accept: "a,b,c", .acceptLanguage: ""]))
        #expect(fields.selection(of: [:]) == "accept\naccept-language")
    }

    private static func entry(_ headers: [String: String]) -> StoredResponse {
        StoredResponse(
            status: 200, headers: HTTPFields(text: headers), body: Data(),
            url: "https://a.example/", storedAt: reference)
    }
}
