import Errand
import Foundation
import TestSupport
import Testing

/// Files that another user has put in place of those of the package.
@Suite(.timeLimit(.minutes(1))) struct PlantedFileTests {
    private let folder = FileManager.default.temporaryDirectory
        .appendingPathComponent("errand-planted-\(UUID().uuidString)", isDirectory: true)

    init() throws {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    private func file(_ name: String) -> URL { folder.appendingPathComponent(name) }
    private func cleanUp() { try? FileManager.default.removeItem(at: folder) }

    /// The temporary file of earlier versions had the extension `part`.
    @Test(arguments: PlantedFile.possible) func multipartBodyIsWrittenToANewFile(
        _ planted: PlantedFile
    ) async throws {
        defer { cleanUp() }
        try planted.plant(at: file("body.part"))
        if planted != .folder { try planted.plant(at: file("body")) }
        let body = HTTPBody.multipart([.text("field", "text")])
        _ = try await body.write(to: file("body"))
        #expect(try Data(contentsOf: file("body")).count > 100)
        #expect(planted.victimIsIntact(beside: file("body.part")))
        #expect(planted.victimIsIntact(beside: file("body")))
    }

    @Test(arguments: PlantedFile.possible) func plantedCookiesAreRefused(
        _ planted: PlantedFile
    ) throws {
        defer { cleanUp() }
        let jar = file("cookies")
        let persistence = FileCookiePersistence(file("other"))
        try persistence.save([Cookie(name: "session", value: "planted", domain: "example.com")])
        try planted.plant(at: jar, try Data(contentsOf: file("other")))
        let error = #expect(throws: RequestError.self) { try FileCookiePersistence(jar).load() }
        #expect(error?.code == .fileFailed && error?.message.contains(jar.path) == true)
        // A file that is not read is not replaced: it may be the own file of the user.
        #expect(throws: RequestError.self) { try FileCookiePersistence(jar).save([]) }
        #expect(throws: RequestError.self) { try FileCookiePersistence(jar).load() }
        #expect(planted.victimIsIntact(beside: jar))
    }

    @Test func brokenCookiesAreNotCopiedThroughALink() throws {
        defer { cleanUp() }
        try Data("torn".utf8).write(to: file("cookies"))
        try PlantedFile.symbolicLink.plant(at: file("cookies.broken"))
        #expect(try FileCookiePersistence(file("cookies")).load().isEmpty)
        #expect(PlantedFile.symbolicLink.victimIsIntact(beside: file("cookies.broken")))
        #expect(try Data(contentsOf: file("cookies.broken")) == Data("torn".utf8))
    }
}
