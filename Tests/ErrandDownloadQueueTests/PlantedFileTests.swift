import ErrandHTTP
import Foundation
import TestSupport
import Testing

@testable import ErrandDownloadQueue

/// Files that another user has put in place of the database of a queue or its lock.
@Suite(.timeLimit(.minutes(1))) struct PlantedFileTests {
    @Test(arguments: PlantedFile.possible, ["", "-lock"])
    func plantedFilesAreRefused(_ planted: PlantedFile, _ suffix: String) async throws {
        let fixture = try DownloadQueueFixture()
        let file = URL(fileURLWithPath: fixture.database + suffix)
        try planted.plant(at: file)
        // A database may be a link of the current user, who owns the planted one.
        guard ![.symbolicLink, .danglingLink].contains(planted) || suffix != "" else { return }
        let queue = DownloadQueueFixture.queue(in: fixture.folder.path)
        let error = await #expect(throws: RequestError.self) { try await queue.open() }
        #expect(error?.code == .storeFailed && error?.message.contains(file.path) == true)
        #expect(planted.victimIsIntact(beside: file))
    }
}
