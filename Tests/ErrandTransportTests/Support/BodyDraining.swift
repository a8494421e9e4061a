import ErrandTransport
import Foundation

/// The bytes of a source, and the error that ended the reading.
struct Drained {
    var data = Data()
    var error: RequestError?
}

/// Reads a source to its end in pieces, and waits when the source has no bytes yet.
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
