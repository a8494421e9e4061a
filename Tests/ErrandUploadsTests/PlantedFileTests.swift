import ErrandHTTP
import Foundation
import TestSupport
import Testing

@testable import ErrandUploads

/// Files that another user has put in place of the journal of an upload or its lock.
@Suite(.timeLimit(.minutes(1))) struct PlantedFileTests {
    private let folder = FileManager.default.temporaryDirectory
        .appendingPathComponent("errand-planted-\(UUID().uuidString)", isDirectory: true)

    init() throws {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    @Test(arguments: PlantedFile.possible, ["journal", "journal.lock"])
    func plantedFilesAreRefused(_ planted: PlantedFile, _ name: String) throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = folder.appendingPathComponent(name)
        try planted.plant(at: file)
        // The name of a lock that a second name has is removed.
        guard planted != .hardLink || name == "journal" else { return }
        let error = #expect(throws: RequestError.self) {
            try UploadJournalFile(folder.appendingPathComponent("journal"))
        }
        #expect(error?.code == .fileFailed && error?.message.contains(file.path) == true)
        #expect(planted.victimIsIntact(beside: file))
    }

    @Test(arguments: PlantedFile.possible) func journalIsWrittenToANewFile(
        _ planted: PlantedFile
    ) throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let url = folder.appendingPathComponent("journal")
        let temporary = folder.appendingPathComponent("journal-new")
        try planted.plant(at: temporary)
        let file = try UploadJournalFile(url)
        let journal = UploadJournal(
            endpoint: try HTTPURL(parsing: "https://example.com/"),
            file: .init(size: 5, modified: 1),
            metadata: nil, remote: .init(url: "https://example.com/1", offset: 0, sent: 0))
        try file.write(journal)
        #expect(file.read() == journal && planted.victimIsIntact(beside: temporary))
    }
}
