import ErrandCore
import ErrandHTTP
import ErrandTesting
import Foundation
import TestSupport
import Testing

@testable import ErrandDownloadQueue

/// Downloads of a queue over real connections whose destination exists already.
@Suite(.limited) struct QueueExistingFileTests {
    /// `nil` is the default: a file is replaced, and a new file in a folder is renamed.
    static let policies: [DownloadPlan.ExistingFile?] = [
        nil, .overwrite, .rename, .keep, .fail,
    ]
    private static let other = Data("other".utf8)

    let fixture: DownloadQueueFixture

    init() throws { fixture = try DownloadQueueFixture() }

    /// Runs a download, stops the server, and returns the state of the download.
    private func state(
        of download: DownloadQueue.Download, over kind: TransportKind
    ) async throws -> DownloadQueue.State {
        fixture.gate.open()
        let queue = try await fixture.queue(transport: kind.makeTransport())
        try await queue.add([download])
        try await queue.untilIdle()
        await queue.close()
        let state = try #require(queue.entries.first?.state)
        // The next process reads the same state.
        let next = try await fixture.queue(transport: kind.makeTransport())
        #expect(next.entries.map(\.state) == [state])
        await next.close()
        await fixture.server.stop()
        return state
    }

    private func expectFailure(_ state: DownloadQueue.State) {
        guard case .failed(let message) = state else {
            Issue.record("\(state)")
            return
        }
        #expect(message.contains("already exists"), "\(message)")
    }

    /// Checks the contents of files: true for the downloaded content, false for the existing one.
    private func expectFiles(_ expected: [String: Bool], in folder: URL) throws {
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
            .filter { !$0.hasPrefix("queue.sqlite") }
        #expect(names.sorted() == expected.keys.sorted())
        for (name, isNew) in expected {
            let data = try Data(contentsOf: folder.appendingPathComponent(name))
            let content = isNew ? DownloadQueueFixture.content : Self.other
            #expect(haveSameBytes(data, content), "\(name)")
        }
    }

    @Test(arguments: TransportKind.allCases, policies)
    func existingDestinationIsHandledByThePolicy(
        kind: TransportKind, policy: DownloadPlan.ExistingFile?
    ) async throws {
        try await fixture.server.start()
        try Self.other.write(to: fixture.file())
        var download = fixture.download()
        download.existingFile = policy
        let state = try await state(of: download, over: kind)
        let requests = fixture.server.requests.count
        switch policy {
        case nil, .overwrite?:
            #expect(state == .finished(fixture.file()) && requests == 1)
            try expectFiles(["a.bin": true], in: fixture.folder)
        case .rename?:
            #expect(state == .finished(fixture.file("a 2")) && requests == 1)
            try expectFiles(["a.bin": false, "a 2.bin": true], in: fixture.folder)
        case .keep?:
            #expect(state == .finished(fixture.file()) && requests == 0)
            try expectFiles(["a.bin": false], in: fixture.folder)
        case .fail?:
            expectFailure(state)
            #expect(requests == 0)
            try expectFiles(["a.bin": false], in: fixture.folder)
        }
    }

    /// The URL names the file only when the response has arrived without another name.
    @Test(arguments: TransportKind.allCases, policies)
    func existingFileInAFolderIsHandledByThePolicy(
        kind: TransportKind, policy: DownloadPlan.ExistingFile?
    ) async throws {
        try await fixture.server.start()
        let folder = fixture.folder.appendingPathComponent("files", isDirectory: true)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let file = folder.appendingPathComponent("a")
        try Self.other.write(to: file)
        var download = fixture.download()
        download.destination = folder
        download.existingFile = policy
        let state = try await state(of: download, over: kind)
        #expect(fixture.server.requests.count == 1)
        switch policy {
        case nil, .rename?:
            #expect(state == .finished(folder.appendingPathComponent("a 2")))
            try expectFiles(["a": false, "a 2": true], in: folder)
        case .overwrite?:
            #expect(state == .finished(file))
            try expectFiles(["a": true], in: folder)
        case .keep?:
            #expect(state == .finished(file))
            try expectFiles(["a": false], in: folder)
        case .fail?:
            expectFailure(state)
            try expectFiles(["a": false], in: folder)
        }
    }
}
