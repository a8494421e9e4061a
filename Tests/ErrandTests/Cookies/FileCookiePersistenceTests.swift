import Errand
import ErrandTesting
import Foundation
import Testing

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

@Suite struct FileCookiePersistenceTests {
    private let folder: URL
    private let file: URL
    private let origin: HTTPURL

    init() throws {
        folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("cookies-\(UUID().uuidString)")
        file = folder.appendingPathComponent("deep/jar")
        origin = try HTTPURL(parsing: "https://example.com/")
    }

    private func mode(_ url: URL) throws -> Int? {
        (try FileManager.default.attributesOfItem(atPath: url.path)[.posixPermissions]
            as? NSNumber)?.intValue
    }

    @Test func persistentCookiesAreLoadedByANewJar() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let jar = CookieJar(persistence: FileCookiePersistence(file))
        jar.receive("a=\"ü\n\"", from: origin)
        jar.receive(
            "a=ü; Max-Age=86400; Secure; HttpOnly; SameSite=Lax; Domain=example.com", from: origin)
        jar.receive("session=1", from: origin)
        try await jar.flush()
        #expect(try mode(file) == 0o600)
        let reloaded = CookieJar(persistence: FileCookiePersistence(file))
        #expect(reloaded.persistenceFailure == nil)
        #expect(reloaded.all.map(\.name) == ["a"])
        #expect(reloaded.all.first?.sameSite == .lax)
        #expect(reloaded.all == jar.all.filter { !$0.isSession })
        #expect(
            try FileManager.default.contentsOfDirectory(
                atPath: file.deletingLastPathComponent().path) == ["jar"])
    }

    @Test func corruptFileIsKeptAsideAndItsValidLinesAreLoaded() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let jar = CookieJar(persistence: FileCookiePersistence(file))
        jar.receive("a=1; Max-Age=86400", from: origin)
        try await jar.flush()
        let handle = try FileHandle(forWritingTo: file)
        try handle.seekToEnd()
        try handle.write(contentsOf: Data("{\"name\": \"torn".utf8))
        try handle.close()
        let reloaded = CookieJar(persistence: FileCookiePersistence(file))
        #expect(reloaded.all.map(\.name) == ["a"])
        let renamedFile = file.appendingPathExtension("broken")
        #expect(try Data(contentsOf: renamedFile).count == Data(contentsOf: file).count)
        #expect(try mode(renamedFile) == 0o600)
        try FileCookiePersistence(file).save(reloaded.all)
        #expect(try FileCookiePersistence(file).load().map(\.name) == ["a"])
    }

    @Test func writeFailureIsThrownAndTheJarKeepsItsCookies() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        // A file exists at the path of the folder, so the write fails.
        try Data().write(to: folder.appendingPathComponent("deep"))
        let jar = CookieJar(persistence: FileCookiePersistence(file))
        jar.receive("a=1; Max-Age=86400", from: origin)
        await #expect(throws: (any Error).self) { try await jar.flush() }
        #expect(jar.all.map(\.name) == ["a"])
    }

    @Test func cookiesConvertToAndFromHTTPCookie() throws {
        let expires = Date(timeIntervalSince1970: 4_000_000_000)
        let cookie = Cookie(
            name: "a", value: "b", domain: "example.com", isHostOnly: false, path: "/x",
            expires: expires, isSecure: true)
        let httpCookie = try #require(cookie.httpCookie)
        #expect(httpCookie.domain == ".example.com")
        #expect(httpCookie.path == "/x" && httpCookie.isSecure && !httpCookie.isSessionOnly)
        #expect(httpCookie.expiresDate == expires)
        #expect(Cookie(httpCookie) == cookie)
        let session = Cookie(name: "a", value: "b", domain: "example.com")
        #expect(try Cookie(#require(session.httpCookie)) == session)
        #expect(Cookie(name: "", value: "b", domain: "example.com").httpCookie == nil)
        let jar = CookieJar()
        try jar.set(session)
        let url = try #require(URL(string: "https://example.com/"))
        #expect(jar.httpCookies(for: url).map(\.name) == ["a"])
    }
}
