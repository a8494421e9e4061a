import Errand
import Foundation

/// A body encoder that reverses the bytes, so that a test can recognize an encoded body.
struct ReversingBodyEncoder: BodyEncoder {
    let contentCoding = "x-reversed"

    func encode(_ body: Data) throws -> Data { Data(body.reversed()) }
}
