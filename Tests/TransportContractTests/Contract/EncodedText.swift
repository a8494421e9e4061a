import Foundation

/// A text in each content coding, without compression, so that no library is needed.
enum EncodedText {
    static let text = Data("sixteen bytes...".utf8)

    static func bytes(in coding: String) -> Data {
        switch coding {
        case "gzip": Deflate.gzip(text)
        case "deflate": Deflate.zlib(text)
        case "br":
            // An uncompressed meta-block of 16 bytes (RFC 7932 §9.2), and an empty one that ends the stream.
            Data([0x8B, 0x07, 0x80]) + text + Data([0x03])
        case "zstd":
            // A frame with a single segment of 16 bytes, in one raw block (RFC 8878 §3.1.1).
            Data([0x28, 0xB5, 0x2F, 0xFD, 0x20, 16, 16 << 3 | 1, 0, 0]) + text
        default: text
        }
    }
}
