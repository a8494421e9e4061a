import Errand
import ErrandTesting
import Foundation
import Testing

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

@Suite struct CookieFileTests {
    private let folder: URL
    private let file: URL
    private let origin: URI

    init() throws {
        folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("cookies-\(UUID().uuidString)")
        file = folder.appendingPathComponent("deep/jar")
        origin = try URI(parsing: "https://example.com/")
    }

    private func mode(_ url: URL) throws -> Int? {
        (try FileManager.default.attributesOfItem(atPath: url.path)[.posixPermissions]
            as? NSNumber)?.intValue
    }

    @Test func cookiesOutliveTheJar() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let jar = CookieJar(persistence: FileCookiePersistence(file))
        jar.receive("a=\"ü\n\"", from: origin)
        jar.receive(
            "a=ü; Max-Age=86400; Secure; HttpOnly; SameSite=Lax; Domain=example.com", from: origin)
        jar.receive("session=1", from: origin)
        try await jar.flush()
        #expect(try mode(file) == 0o600)
        let again = CookieJar(persistence: FileCookiePersistence(file))
        #expect(again.persistenceFailure == nil)
        #expect(again.all.map(\.name) == ["a"])
        #expect(again.all.first?.sameSite == .lax)
        #expect(again.all == jar.all.filter { !$0.isSession })
        #expect(
            try FileManager.default.contentsOfDirectory(
                atPath: file.deletingLastPathComponent().path) == ["jar"])
    }

    @Test func aBrokenFileIsSetAsideAndItsGoodLinesAreKept() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let jar = CookieJar(persistence: FileCookiePersistence(file))
        jar.receive("a=1; Max-Age=86400", from: origin)
        try await jar.flush()
        let handle = try FileHandle(forWritingTo: file)
        try handle.seekToEnd()
        try handle.write(contentsOf: Data("{\"name\": \"torn".utf8))
        try handle.close()
        let again = CookieJar(persistence: FileCookiePersistence(file))
        #expect(again.all.map(\.name) == ["a"])
        let aside = file.appendingPathExtension("broken")
        #expect(try Data(contentsOf: aside).count == Data(contentsOf: file).count)
        #expect(try mode(aside) == 0o600)
        try FileCookiePersistence(file).save(again.all)
        #expect(try FileCookiePersistence(file).load().map(\.name) == ["a"])
    }

    @Test func whatCannotBeWrittenIsToldAndTheJarGoesOn() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        // A file where a folder belongs.
        try Data().write(to: folder.appendingPathComponent("deep"))
        let jar = CookieJar(persistence: FileCookiePersistence(file))
        jar.receive("a=1; Max-Age=86400", from: origin)
        await #expect(throws: (any Error).self) { try await jar.flush() }
        #expect(jar.all.map(\.name) == ["a"])
    }

    @Test func foundationsCookies() throws {
        let expires = Date(timeIntervalSince1970: 4_000_000_000)
        let cookie = Cookie(
            name: "a", value: "b", domain: "example.com", isHostOnly: false, path: "/x",
            expires: expires, isSecure: true)
        let theirs = try #require(cookie.httpCookie)
        #expect(theirs.domain == ".example.com")
        #expect(theirs.path == "/x" && theirs.isSecure && !theirs.isSessionOnly)
        #expect(theirs.expiresDate == expires)
        #expect(Cookie(theirs) == cookie)
        let session = Cookie(name: "a", value: "b", domain: "example.com")
        #expect(try Cookie(#require(session.httpCookie)) == session)
        #expect(Cookie(name: "", value: "b", domain: "example.com").httpCookie == nil)
        let jar = CookieJar()
        try jar.set(session)
        let url = try #require(URL(string: "https://example.com/"))
        #expect(jar.httpCookies(for: url).map(\.name) == ["a"])
    }
}
