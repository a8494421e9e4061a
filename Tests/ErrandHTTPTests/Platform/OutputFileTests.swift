import ErrandHTTP
import Foundation
import Testing

@Suite struct OutputFileTests {
    private let path = FileManager.default.temporaryDirectory
        .appendingPathComponent("errand-output-\(UUID().uuidString)").path

    @Test func overwritesItsEnd() throws {
        defer { try? FileManager.default.removeItem(atPath: path) }
        let file = OutputFile(descriptor: try FileAccess.new(path, mode: 0o600))
        try file.write(Data("head, end".utf8))
        try file.seek(to: 6)
        try file.write(Data("tail".utf8))
        #expect(try String(contentsOfFile: path, encoding: .utf8) == "head, tail")
        try file.truncate(at: 4)
        try file.synchronize()
        try file.close()
        #expect(try String(contentsOfFile: path, encoding: .utf8) == "head")
    }

    @Test func reportsTheErrorOfTheSystem() throws {
        try Data().write(to: URL(fileURLWithPath: path))
        defer { try? FileManager.default.removeItem(atPath: path) }
        let file = OutputFile(descriptor: try FileAccess.own(path))
        #expect(throws: POSIXError(.EBADF)) { try file.write(Data([1])) }
    }
}
