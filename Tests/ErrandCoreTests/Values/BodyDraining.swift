import ErrandCore
import Foundation

/// What came of reading a source to its end.
struct Drained {
    var data = Data()
    var error: RequestError?
}

/// Reads a source to its end, in pieces, waiting where it says so.
func drain(_ source: any BodySource, pieces: Int = 7) async -> Drained {
    var result = Drained()
    while true {
        var piece = Data(count: pieces)
        let read = piece.withUnsafeMutableBytes { source.read(into: $0) }
        switch read {
        case .bytes(let count):
            result.data += piece.prefix(count)
        case .end:
            return result
        case .failed(let error):
            result.error = error
            return result
        case .wait:
            await withCheckedContinuation { continuation in
                source.whenReadable { continuation.resume() }
            }
        }
    }
}

/// A file in a directory of its own, removed with this object.
final class TemporaryFile: Sendable {
    let url: URL

    init(_ contents: Data = Data(), name: String = "body.bin") throws {
        let directory = FileManager.default.temporaryDirectory
            .appendingPathComponent("errand-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        url = directory.appendingPathComponent(name)
        try contents.write(to: url)
    }

    deinit { try? FileManager.default.removeItem(at: url.deletingLastPathComponent()) }
}
