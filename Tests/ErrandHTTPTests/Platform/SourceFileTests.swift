import ErrandHTTP
import Foundation
import Testing

@Suite struct SourceFileTests {
    private let folder = FileManager.default.temporaryDirectory
        .appendingPathComponent("errand-source-file-\(UUID().uuidString)", isDirectory: true)

    init() throws {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    @Test(arguments: [0, 1, 5, 6, 100]) func theBeginningHasAtMostTheGivenNumberOfBytes(
        count: Int
    ) throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = folder.appendingPathComponent("file")
        try Data("abcde".utf8).write(to: file)
        #expect(SourceFile.beginning(of: file, count) == Data("abcde".utf8.prefix(count)))
    }

    @Test func aFileThatCannotBeReadHasNoBeginning() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let missing = folder.appendingPathComponent("missing")
        #expect(SourceFile.beginning(of: missing, 5) == nil)
        #expect(SourceFile.beginning(of: folder, 5) == nil)
        let pipe = folder.appendingPathComponent("pipe")
        try #require(mkfifo(pipe.path, 0o600) == 0)
        #expect(SourceFile.beginning(of: pipe, 5) == nil)
    }

    #if os(Linux)
        /// The system reports a size of 0 for such a file.
        @Test func aFileOfTheSystemIsRead() {
            defer { try? FileManager.default.removeItem(at: folder) }
            let file = URL(fileURLWithPath: "/proc/self/comm")
            #expect(SourceFile.beginning(of: file, 64)?.isEmpty == false)
        }
    #endif
}
