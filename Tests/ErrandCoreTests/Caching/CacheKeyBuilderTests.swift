import ErrandCore
import Foundation
import Testing

@Suite struct CacheKeyBuilderTests {
    private var request: TransportRequest {
        TransportRequest(
            method: .get, url: HTTPURL(scheme: "http", host: "a", path: "/b", query: "c=1"))
    }

    private func key(
        _ identity: String? = nil, _ change: (inout TransportRequest) -> Void = { _ in }
    )
        -> CacheKey?
    {
        var request = request
        change(&request)
        return CacheKeyBuilder.key(for: request, identity: identity)
    }

    @Test func keyIsStableAcrossProcesses() {
        #expect(key()?.canonical == "GET\nhttp://a/b?c=1\n\n\n\n")
        #expect(key()?.hash64 == CacheKey(canonical: "GET\nhttp://a/b?c=1\n\n\n\n").hash64)
    }

    @Test func keyContainsWhatSelectsTheResponse() {
        let keys: [CacheKey?] = [
            key(), key("anna"), key(""), key { $0.method = .post }, key { $0.url.query = "c=2" },
            key { $0.url.host = "b" }, key { $0.url.port = 81 }, key { $0.body = .string("x") },
            key { $0.body = .string("y") }, key { $0.body = .string("") },
            key { $0.headers[.accept] = "text/html" }, key { $0.headers[.acceptLanguage] = "de" },
        ]
        #expect(!keys.contains(nil))
        #expect(Set(keys).count == keys.count)
    }

    @Test func keyIgnoresWhatDoesNotSelectTheResponse() {
        #expect(key { $0.url.fragment = "x" } == key())
        #expect(key { $0.url.userInfo = "me:secret" } == key())
        #expect(key("anna") { $0.headers[.authorization] = "Bearer x" } == key("anna"))
        #expect(key { $0.headers[.userAgent] = "x" } == key())
    }

    /// The digests in a key are made with bytes of the store.
    @Test func storedKeyHasDigestsOfItsStore() throws {
        let (one, other) = (Data(repeating: 1, count: 32), Data(repeating: 2, count: 32))
        let plain = try #require(key())
        #expect(plain.stored(credentials: nil, digestKey: one) == plain)
        for identity in [nil, "anna", "a\n\nb", ""] {
            let body = try #require(key(identity) { $0.body = .string("pin=1") })
            let stored = body.stored(credentials: nil, digestKey: one)
            let digest = SHA256.hex(Data("pin=1".utf8))
            #expect(body.canonical.contains(digest) && !stored.canonical.contains(digest))
            #expect(stored != body.stored(credentials: nil, digestKey: other))
            #expect(stored.canonical.hasSuffix(identity.map { "\n=" + $0 } ?? "\n"))
            let encoded = try #require(
                key(identity) {
                    $0.body = .string("pin=1")
                    $0.options.decodesContent = false
                })
            #expect(
                encoded.stored(credentials: nil, digestKey: one).canonical.contains("\nencoded "))
        }
        let digest = SHA256.hex(Data("Basic YTox".utf8))
        let stored = plain.stored(credentials: digest, digestKey: one)
        #expect(!stored.canonical.contains(digest))
        #expect(stored == plain.stored(credentials: digest, digestKey: one))
        #expect(stored != plain.stored(credentials: digest, digestKey: other))
    }

    @Test func identityCannotForgeOtherKeyParts() {
        #expect(key("anna\n=bob") != key("anna"))
        #expect(key("\n") != key())
    }

    @Test func bodiesOfUnknownContentHaveNoKey() {
        #expect(key { $0.body = .file(URL(fileURLWithPath: "/etc/hosts")) } == nil)
        #expect(key { $0.body = .stream { AsyncStream<Data> { $0.finish() } } } == nil)
    }

    @Test func explicitCacheKeyOverridesTheBuiltKey() throws {
        let fixture = try CacheStepFixture()
        var pipelineRequest = fixture.pipelineRequest()
        #expect(
            cacheKey(for: pipelineRequest)
                == CacheKeyBuilder.key(for: pipelineRequest.request, identity: nil))
        pipelineRequest.adaptation.key = CacheKey(canonical: "mine")
        #expect(cacheKey(for: pipelineRequest) == CacheKey(canonical: "mine"))
    }
}
