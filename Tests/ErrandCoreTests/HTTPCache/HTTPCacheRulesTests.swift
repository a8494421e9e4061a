import ErrandCore
import Foundation
import HTTPTypes
import Testing

/// What is stored, what a stored answer is good for, and what becomes of it: RFC 9111 §3, §4 and §5.2, RFC 5861.
@Suite struct HTTPCacheRulesTests {
    static let then = Date(timeIntervalSince1970: 784_111_777)
    static let modified = "Sat, 05 Nov 1994 08:49:37 GMT"

    private static func fields(_ pairs: [String: String]) -> HTTPFields {
        HTTPFields(pairs.compactMap { name, value in
            HTTPField.Name(name).map { HTTPField(name: $0, value: value) }
        })
    }

    struct StoreRow: Sendable {
        var status = 200
        var answer: [String: String]
        var request: [String: String] = [:]
        var isStored: Bool
        init(_ status: Int, _ answer: [String: String], _ request: [String: String] = [:], _ isStored: Bool) {
            (self.status, self.answer, self.request, self.isStored) = (status, answer, request, isStored)
        }
    }

    @Test(arguments: [
        StoreRow(200, ["Cache-Control": "max-age=60"], true),
        StoreRow(200, ["Cache-Control": "max-age=60, private"], true),
        StoreRow(200, ["Cache-Control": "max-age=60, no-store"], false),
        StoreRow(200, ["Cache-Control": "max-age=60"], ["Cache-Control": "no-store"], false),
        StoreRow(200, ["Cache-Control": "max-age=60, no-store, must-understand"], true),
        StoreRow(599, ["Cache-Control": "max-age=60, no-store, must-understand"], false),
        StoreRow(200, ["Cache-Control": "max-age=60", "Vary": "*"], false),
        StoreRow(200, ["Cache-Control": "max-age=60", "Vary": "Accept, *"], false),
        StoreRow(200, ["ETag": "\"1\""], true), StoreRow(200, ["Last-Modified": modified], true),
        StoreRow(200, ["ETag": "\"1\"", "Cache-Control": "no-cache"], true),
        StoreRow(200, ["Cache-Control": "no-cache"], false), StoreRow(200, [:], false),
        StoreRow(200, ["Cache-Control": "max-age=0"], false), StoreRow(200, ["Expires": "0"], false),
        StoreRow(200, ["Cache-Control": "max-age=0, stale-if-error=9"], true),
        StoreRow(201, ["ETag": "\"1\""], false), StoreRow(302, ["ETag": "\"1\""], false),
        StoreRow(302, ["ETag": "\"1\"", "Cache-Control": "max-age=5"], true),
        StoreRow(404, ["ETag": "\"1\""], true), StoreRow(503, ["Cache-Control": "max-age=5"], true),
        StoreRow(206, ["Cache-Control": "max-age=5"], false),
        StoreRow(304, ["Cache-Control": "max-age=5"], false),
        StoreRow(200, ["Cache-Control": "max-age=60"], ["Authorization": "Basic eA=="], true),
    ])
    func whatIsStored(row: StoreRow) {
        let isStored = HTTPCacheStorage.mayStore(
            status: row.status, headers: Self.fields(row.answer), requestHeaders: Self.fields(row.request),
            receivedAt: Self.then, settings: HTTPCacheSettings())
        #expect(isStored == row.isStored)
    }

    struct ReuseRow: Sendable {
        var answer: String, request: String
        var age: Double
        var expected: HTTPReuse
        init(_ answer: String, _ request: String, _ age: Double, _ expected: HTTPReuse) {
            (self.answer, self.request, self.age, self.expected) = (answer, request, age, expected)
        }
    }

    @Test(arguments: [
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
        ReuseRow("max-age=10, stale-while-revalidate=5", "", 15, .staleWhileRevalidate(age: .seconds(15))),
        ReuseRow("max-age=10, stale-while-revalidate=5", "", 16, .revalidate),
        ReuseRow("max-age=10, stale-while-revalidate=5, must-revalidate", "", 12, .revalidate),
        ReuseRow("max-age=10, stale-while-revalidate=5", "max-age=12", 11, .revalidate),
        ReuseRow("max-age=10, stale-while-revalidate=5", "no-cache", 12, .revalidate),
        ReuseRow("max-age=nonsense", "", 0, .revalidate),
        ReuseRow("max-age=10", "max-stale=nonsense", 11, .revalidate),
    ])
    func reuse(row: ReuseRow) {
        let entry = Self.entry(["Cache-Control": row.answer])
        let decision = HTTPReuse.decide(
            entry, requestHeaders: row.request.isEmpty ? [:] : [.cacheControl: row.request],
            now: Self.then + row.age, settings: HTTPCacheSettings())
        #expect(decision == row.expected)
    }

    @Test(arguments: [
        ("max-age=10", "", 11.0, 0, false), ("max-age=10", "", 9, 0, true),
        ("max-age=10, stale-if-error=5", "", 15, 0, true),
        ("max-age=10, stale-if-error=5", "", 16, 0, false),
        ("max-age=10", "stale-if-error=5", 15, 0, true), ("max-age=10", "", 100, 90, true),
        ("max-age=10", "", 101, 90, false), ("max-age=10, must-revalidate", "", 11, 90, false),
        ("max-age=10, no-cache", "", 1, 90, false), ("max-age=10", "no-cache", 1, 90, false),
    ])
    func inPlaceOfErrors(
        answer: String, request: String, age: Double, allowed: Int, isUsed: Bool
    ) {
        var settings = HTTPCacheSettings()
        settings.staleIfError = .seconds(allowed)
        let found = HTTPReuse.ageInPlaceOfError(
            Self.entry(["Cache-Control": answer]),
            requestHeaders: request.isEmpty ? [:] : [.cacheControl: request], now: Self.then + age,
            settings: settings)
        #expect(found == (isUsed ? .seconds(age) : nil))
    }

    @Test func whatBelongsToAConnectionIsNotKept() {
        let kept = HTTPCacheStorage.stored(
            Self.fields([
                "Connection": "close, X-Hop", "X-Hop": "1", "Keep-Alive": "x", "Transfer-Encoding": "chunked",
                "Upgrade": "h2c", "Set-Cookie": "a=b", "ETag": "\"1\"", "Age": "5",
            ]), requestedAt: Self.then, receivedAt: Self.then + 2)
        #expect(kept == [.eTag: "\"1\"", .age: "7"] || kept == [.age: "7", .eTag: "\"1\""])
    }

    @Test func aConfirmationReplacesWhatItNames() throws {
        var entry = Self.entry([
            "ETag": "\"1\"", "Content-Length": "3", "Content-Encoding": "x", "X-Note": "old", "Age": "900",
            "Date": Self.modified, "Content-Type": "text/plain",
        ])
        entry.body = Data("abc".utf8)
        let confirmed = try #require(
            Revalidation.confirmed(
                entry,
                by: Self.fields([
                    "ETag": "W/\"1\"", "Content-Length": "0", "Content-Encoding": "y", "X-Note": "new",
                    "Cache-Control": "max-age=60", "Connection": "close",
                ]), requestedAt: Self.then, receivedAt: Self.then))
        #expect(confirmed.headers[.contentLength] == "3" && confirmed.headers[.contentEncoding] == "x")
        #expect(confirmed.headers[.init("X-Note")!] == "new" && confirmed.headers[.connection] == nil)
        #expect(confirmed.headers[.contentType] == "text/plain" && confirmed.headers[.age] == nil)
        #expect(confirmed.headers[.date] == nil && confirmed.body == entry.body)
        let reuse = HTTPReuse.decide(
            confirmed, requestHeaders: [:], now: Self.then + 59, settings: HTTPCacheSettings())
        #expect(reuse == .fresh(age: .seconds(59)))
        #expect(
            Revalidation.confirmed(
                entry, by: [.eTag: "\"2\""], requestedAt: Self.then, receivedAt: Self.then) == nil)
    }

    @Test func conditionsAreTheValidators() {
        #expect(
            Revalidation.conditions(for: Self.entry(["ETag": "W/\"1\"", "Last-Modified": Self.modified]))
                == [.ifNoneMatch: "W/\"1\"", .ifModifiedSince: Self.modified])
        #expect(Revalidation.conditions(for: Self.entry(["Last-Modified": "yesterday"])).isEmpty)
    }

    @Test func changesMakeAddressesOfTheSameOriginOutOfDate() throws {
        let target = try URI(parsing: "https://a.example/list")
        let headers = Self.fields(["Location": "/item/1", "Content-Location": "https://b.example/x"])
        let addresses = CacheInvalidation.addresses(target: target, status: 201, headers: headers)
        #expect(addresses.map(\.string) == ["https://a.example/list", "https://a.example/item/1"])
        #expect(CacheInvalidation.addresses(target: target, status: 404, headers: headers).isEmpty)
        let changing = [HTTPMethod.get, .head, .options, "TRACE", .post, "PURGE"].map(
            CacheInvalidation.mayChange)
        #expect(changing == [false, false, false, false, true, true])
    }

    @Test func anIndexSurvivesTheStore() throws {
        var index = VariantIndex(generation: "g", VaryingFields(names: ["accept", "accept-language"]))
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

    @Test func selectionsIgnoreHowListsAreWritten() throws {
        let fields = VaryingFields([.vary: "Accept-Language, accept"])
        var one = HTTPFields()
        one.append(HTTPField(name: .accept, value: "a,  b"))
        one.append(HTTPField(name: .accept, value: "c"))
        #expect(fields.selection(of: one) == fields.selection(of: [.accept: "a, b , c"]))
        #expect(fields.selection(of: one) != fields.selection(of: [.accept: "a,b,c", .acceptLanguage: ""]))
        #expect(fields.selection(of: [:]) == "accept\naccept-language")
    }

    private static func entry(_ headers: [String: String]) -> StoredResponse {
        StoredResponse(
            status: 200, headers: fields(headers), body: Data(), url: "https://a.example/", storedAt: then)
    }
}
