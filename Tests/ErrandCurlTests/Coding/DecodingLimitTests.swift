import ErrandCore
import ErrandCurl
import ErrandTransport
import Foundation
import HTTPTypes
import TestSupport
import Testing

/// Bodies with two content codings, whose output after the first decoder vanishes in the second.
enum StackedBomb: CaseIterable {
    case padding, emptyMembers, emptyBlocks, skippableFrames

    /// The coding that was applied first and is decoded last.
    var innerCoding: ContentCoding {
        switch self {
        case .padding, .emptyMembers: .gzip
        case .emptyBlocks: .deflate
        case .skippableFrames: .zstd
        }
    }

    /// The value of `Content-Encoding`.
    var encoding: String { "\(innerCoding.rawValue), gzip" }

    /// The body after the first decoder: more than 8 MiB that contain at most the text of
    /// ``Sample``.
    func partlyDecoded() throws -> Data {
        switch self {
        case .padding: return Data(Sample.gzip) + repeated(Data([0]))
        case .emptyMembers: return repeated(try ZlibBodyEncoder.gzip.encode(Data()))
        case .emptyBlocks:
            // Stored blocks without content (RFC 1951 §3.2.4); the last one has the final bit.
            return repeated(Data([0, 0, 0, 0xFF, 0xFF])) + Data([1, 0, 0, 0xFF, 0xFF])
        case .skippableFrames:
            // Skippable frames of 64 KiB (RFC 8878 §3.1.2), and a frame with the text.
            let header = Data([0x50, 0x2A, 0x4D, 0x18, 0, 0, 1, 0])
            return repeated(header + Data(count: 64 << 10)) + Data(Sample.zstd)
        }
    }

    /// Repeats bytes until they are at least 8 MiB.
    private func repeated(_ bytes: Data) -> Data {
        var result = bytes
        while result.count < 8 << 20 { result += Data(result) }
        return result
    }

    /// The text in the body.
    var text: Data { self == .padding || self == .skippableFrames ? Sample.plain : Data() }

    /// The encoded body, less than a 400th of the partly decoded one.
    func encoded() throws -> Data {
        try ZlibBodyEncoder(.gzip, level: 9).encode(partlyDecoded())
    }
}

/// Limits of the decoded bytes that apply to each content coding of a body.
@Suite(.limited)
struct DecodingLimitTests {
    /// The number of bytes that the default limits allow for a small encoded body.
    private static let earlyBytes = 4 << 20
    /// The number of bytes that a stage decodes at once.
    private static let stepSize = 16 << 10

    private struct Received {
        var body = Data()
        var error: RequestError?
        /// The number of encoded bytes that were passed to the reader.
        var encodedBytes = 0
    }

    /// Receives an encoded body in pieces, until its end or the first error.
    private func receive(
        _ body: Data, _ encoding: String, piece: Int = .max,
        _ change: (inout TransportOptions) -> Void = { _ in }
    ) throws -> Received {
        var options = TransportOptions()
        change(&options)
        var framing = BodyFraming()
        let field = HTTPField(name: .contentEncoding, value: encoding)
        try framing.add(field, meaning: .contentEncoding)
        var reader = BodyReader()
        reader.reset(options)
        var received = Received()
        received.error = reader.begin(framing)
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 64 << 10, alignment: 16)
        defer { buffer.deallocate() }
        while received.error == nil, received.encodedBytes < body.count {
            let count = min(piece, body.count - received.encodedBytes)
            let start = body.startIndex + received.encodedBytes
            received.encodedBytes += count
            received.error = body[start..<(start + count)].withUnsafeBytes { bytes in
                reader.deliver(bytes, by: buffer) { decoded in
                    received.body.append(contentsOf: decoded)
                    return true
                }
            }
        }
        received.error = received.error ?? reader.errorAtEnd()
        return received
    }

    /// Feeds a whole body to a chain and reads its output until the chain needs input or fails.
    private func drain(
        _ body: Data, through decoders: [any ContentDecoder], _ limits: DecodingLimits
    ) -> DecodingChain.Outcome {
        let chain = DecodingChain(decoders, limits: limits)
        body.withUnsafeBytes { chain.feed($0) }
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        while true {
            let outcome = buffer.withUnsafeMutableBytes { chain.read(into: $0) }
            guard case .produced = outcome else { return outcome }
        }
    }

    @Test(arguments: StackedBomb.allCases)
    func stackedBombFails(bomb: StackedBomb) throws {
        let received = try receive(bomb.encoded(), bomb.encoding)
        let error = try #require(received.error)
        #expect(error.code == .bodyTooLarge)
        #expect(error.message.contains("The partly decoded body is more than"))
        #expect(error.message.contains("Raise maximumDecodingRatio"))
        #expect(received.body.count <= bomb.text.count)
    }

    /// Shows that the bombs are valid, and fail because of a limit only.
    @Test(arguments: StackedBomb.allCases)
    func stackedBombDecodesWithoutLimits(bomb: StackedBomb) throws {
        let received = try receive(bomb.encoded(), bomb.encoding) {
            $0.maximumDecodingRatio = nil
        }
        #expect(received.error == nil)
        #expect(received.body == bomb.text)
    }

    @Test(arguments: StackedBomb.allCases)
    func workForABombIsBounded(bomb: StackedBomb) throws {
        let outer = CountingDecoder(try #require(ContentCoding.gzip.makeDecoder()))
        let inner = CountingDecoder(try #require(bomb.innerCoding.makeDecoder()))
        let limits = DecodingLimits(
            maximumBytes: nil, maximumRatio: TransportOptions.defaultDecodingRatio)
        let outcome = try drain(bomb.encoded(), through: [outer, inner], limits)
        guard case .exceeded(.ratio, isBody: false) = outcome else {
            Issue.record("\(outcome)")
            return
        }
        #expect(outer.produced <= Self.earlyBytes + Self.stepSize)
        #expect(inner.consumed <= outer.produced)
        #expect(outer.consumed < 16 << 10)
    }

    @Test func brotliBombFailsAtItsFirstBytes() throws {
        let outer = CountingDecoder(try #require(ContentCoding.brotli.makeDecoder()))
        let inner = CountingDecoder(try #require(ContentCoding.gzip.makeDecoder()))
        let limits = DecodingLimits(
            maximumBytes: nil, maximumRatio: TransportOptions.defaultDecodingRatio)
        let bomb = Data(Sample.paddedGzipInBrotli)
        let outcome = drain(bomb, through: [outer, inner], limits)
        #expect(outcome == .exceeded(.ratio(1000), isBody: false))
        #expect(outer.produced > 64 << 10)
        #expect(outer.produced <= 1000 * bomb.count + Self.stepSize)
    }

    @Test(arguments: [1, 2, 1000])
    func stackedBombInPiecesFails(piece: Int) throws {
        let body = try StackedBomb.padding.encoded()
        let received = try receive(body, StackedBomb.padding.encoding, piece: piece)
        #expect(received.error?.code == .bodyTooLarge)
        #expect(received.body == Sample.plain)
        #expect(received.encodedBytes < body.count)
        let brotli = try receive(Data(Sample.paddedGzipInBrotli), "gzip, br", piece: piece)
        #expect(brotli.error?.code == .bodyTooLarge)
    }

    @Test func maximumBodyBytesLimitsThePartlyDecodedBody() throws {
        let limit = 100_000
        let received = try receive(
            StackedBomb.padding.encoded(), StackedBomb.padding.encoding
        ) {
            $0.maximumBodyBytes = Int64(limit)
            $0.maximumDecodingRatio = nil
        }
        let error = try #require(received.error)
        #expect(error.code == .bodyTooLarge)
        #expect(error.message.contains("partly decoded body exceeds twice the limit of 100000"))
        let outer = CountingDecoder(try #require(ContentCoding.gzip.makeDecoder()))
        let inner = CountingDecoder(try #require(ContentCoding.gzip.makeDecoder()))
        let limits = DecodingLimits(maximumBytes: Int64(limit), maximumRatio: nil)
        let outcome = try drain(
            StackedBomb.padding.encoded(), through: [outer, inner], limits)
        #expect(outcome == .exceeded(.bytes(Int64(limit)), isBody: false))
        #expect(outer.produced <= 2 * limit + (64 << 10) + Self.stepSize)
    }

    /// A coding adds a header, so that the partly decoded body is larger than the body.
    @Test(arguments: [0, 1, 1000, 200_000])
    func bodyOfTheMaximumSizeDecodesFromTwoCodings(count: Int) throws {
        var generator = SeededGenerator(seed: 1)
        let body = Data((0..<count).map { _ in UInt8.random(in: 0...255, using: &generator) })
        let once = try ZlibBodyEncoder.gzip.encode(body)
        #expect(once.count > body.count)
        let received = try receive(ZlibBodyEncoder.deflate.encode(once), "gzip, deflate") {
            $0.maximumBodyBytes = Int64(count)
        }
        #expect(received.error == nil)
        #expect(received.body == body)
    }

    @Test(arguments: [1, 17, Int.max])
    func stackedCodingsWithAHighRatioDecode(piece: Int) throws {
        var generator = SeededGenerator(seed: 2)
        let start = Data((0..<4096).map { _ in UInt8.random(in: 0...255, using: &generator) })
        let body = start + Data(count: 2 << 20)
        let encoder = ZlibBodyEncoder(.gzip, level: 9)
        let encoded = try encoder.encode(encoder.encode(body))
        #expect(body.count > 400 * encoded.count)
        let received = try receive(encoded, "gzip, gzip", piece: piece)
        #expect(received.error == nil)
        #expect(received.body == body)
    }

    @Test func bodyAboveTheRatioNamesTheDecodedBody() throws {
        let received = try receive(Data(Sample.gzipOfZeros), "gzip") {
            $0.maximumDecodingRatio = 20
        }
        let error = try #require(received.error)
        #expect(error.code == .bodyTooLarge)
        #expect(error.message.contains("The decoded body is more than 20 times"))
    }
}

/// Counts the bytes of another decoder.
private final class CountingDecoder: ContentDecoder {
    private let decoder: any ContentDecoder
    private(set) var consumed = 0
    private(set) var produced = 0

    init(_ decoder: any ContentDecoder) { self.decoder = decoder }

    var isFinished: Bool { decoder.isFinished }

    func decode(
        _ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer
    ) -> DecodedStep {
        let step = decoder.decode(input, into: output)
        consumed += step.consumed
        produced += step.produced
        return step
    }
}
