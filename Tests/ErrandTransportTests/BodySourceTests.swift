import ErrandTransport
import Foundation
import TestSupport
import Testing

@Suite(.limited)
struct BodySourceTests {
    @Test func dataIsReadInPiecesAndAfterARewind() async throws {
        let bytes = Data((0..<100).map { UInt8($0) })
        let source = try HTTPBody.data(bytes[10..<60]).makeSource()
        #expect(source.length == 50)
        #expect(await drain(source).data == bytes[10..<60])
        #expect(source.rewind())
        #expect(await drain(source, pieces: 1).data == bytes[10..<60])
    }

    @Test func emptyDataEndsAtOnce() async throws {
        let source = try HTTPBody.data(Data()).makeSource()
        #expect(source.length == 0)
        let drained = await drain(source)
        #expect(drained.data.isEmpty && drained.error == nil)
    }

    @Test func fileIsReadWithItsLength() async throws {
        let file = try TemporaryFile(Data(repeating: 7, count: 1000))
        let source = try HTTPBody.file(file.url).makeSource()
        #expect(source.length == 1000)
        #expect(await drain(source, pieces: 64).data == Data(repeating: 7, count: 1000))
        #expect(source.rewind())
        #expect(await drain(source, pieces: 4096).data.count == 1000)
    }

    @Test func missingFileIsRejectedBeforeSending() throws {
        let missing = FileManager.default.temporaryDirectory
            .appendingPathComponent("no-such-\(UUID().uuidString)")
        let error = #expect(throws: RequestError.self) {
            try HTTPBody.file(missing).makeSource()
        }
        #expect(error?.code == .invalidBody)
        #expect(error?.stage == .build)
        #expect(error?.message.contains(missing.lastPathComponent) == true)
    }

    @Test func directoryIsRejected() {
        let error = #expect(throws: RequestError.self) {
            try HTTPBody.file(FileManager.default.temporaryDirectory).makeSource()
        }
        #expect(error?.code == .invalidBody)
    }

    @Test func webURLIsRejectedAsAFile() throws {
        let url = try #require(URL(string: "http://example.org/x"))
        let error = #expect(throws: RequestError.self) { try HTTPBody.file(url).makeSource() }
        #expect(error?.code == .invalidBody)
    }

    @Test(arguments: [10, 3000])
    func fileThatChangesItsSizeFailsBeforeTheLastByte(newSize: Int) async throws {
        let file = try TemporaryFile(Data(repeating: 7, count: 1000))
        let source = try HTTPBody.file(file.url).makeSource()
        var piece = Data(count: 100)
        let first = piece.withUnsafeMutableBytes { source.read(into: $0) }
        guard case .bytes(100) = first else {
            Issue.record("read \(first)")
            return
        }
        let handle = try FileHandle(forWritingTo: file.url)
        try handle.truncate(atOffset: UInt64(newSize))
        try handle.close()
        let drained = await drain(source, pieces: 128)
        #expect(drained.error?.code == .bodyReadFailed)
        #expect(drained.data.count < 900)
    }

    @Test func concatenationKeepsOrderAndSumsLengths() async throws {
        let file = try TemporaryFile(Data("middle".utf8))
        let source = ConcatenatedBodySource([
            .init(length: 6) { DataBodySource(Data("first ".utf8)) },
            .init(length: 0) { DataBodySource(Data()) },
            .init(length: 6) { () throws(RequestError) in
                try FileBodySource(file.url, expectedLength: 6)
            },
            .init(length: 5) { DataBodySource(Data(" last".utf8)) },
        ])
        #expect(source.length == 17)
        #expect(await drain(source, pieces: 4).data == Data("first middle last".utf8))
        #expect(source.rewind())
        #expect(await drain(source, pieces: 4000).data == Data("first middle last".utf8))
    }

    @Test func concatenationWithAnUnknownPartHasNoLength() {
        let source = ConcatenatedBodySource([
            .init(length: 6) { DataBodySource(Data("first ".utf8)) },
            .init(length: nil) { DataBodySource(Data("x".utf8)) },
        ])
        #expect(source.length == nil)
    }

    @Test func concatenationFailsWhenAFileChanged() async throws {
        let file = try TemporaryFile(Data("middle".utf8))
        let source = ConcatenatedBodySource([
            .init(length: 7) { () throws(RequestError) in
                try FileBodySource(file.url, expectedLength: 7)
            }
        ])
        #expect(await drain(source).error?.code == .bodyReadFailed)
    }
}
