import ErrandCore
import ErrandCurl
import ErrandTesting
import Foundation
import TestSupport
import Testing

/// Compression of request bodies by zlib.
@Suite(.limited)
struct BodyEncoderTests {
    @Test(arguments: [ZlibBodyEncoder.Format.gzip, .deflate], [0, 1, 70_000, 3_000_000])
    func encodedBodyDecodesToOriginal(format: ZlibBodyEncoder.Format, count: Int) throws {
        var generator = SystemRandomNumberGenerator()
        // Half of the bytes are random, so that the output exceeds one buffer.
        let body = Data(
            (0..<count).map { $0 % 2 == 0 ? UInt8.random(in: 0...255, using: &generator) : 7 })
        for level in [-3, 1, 6, 99] {
            let encoded = try ZlibBodyEncoder(format, level: level).encode(body)
            let coding = try #require(ContentCoding(rawValue: format.rawValue))
            let chain = try makeChain(coding)
            #expect(try drain(chain, encoded) == body)
            if count > 1000 { #expect(encoded.count < count) }
        }
    }

    @Test func encodedBodyHasFormatPrefix() throws {
        #expect(try ZlibBodyEncoder.gzip.encode(Data("a".utf8)).prefix(2) == Data([0x1F, 0x8B]))
        #expect(try ZlibBodyEncoder.deflate.encode(Data("a".utf8)).first == 0x78)
        #expect(ZlibBodyEncoder.gzip.contentCoding == "gzip")
        #expect(ZlibBodyEncoder.deflate.contentCoding == "deflate")
    }

    @Test(arguments: [ZlibBodyEncoder.Format.gzip, .deflate])
    func serverReceivesEncodedBodyAndHeaders(format: ZlibBodyEncoder.Format) async throws {
        let server = LoopbackServer()
        server.route(
            "/in",
            responses: LoopbackResponse(headers: ["Content-Type": "application/json"], body: "{}"))
        try await server.start()
        var configuration = Configuration(baseURL: server.baseURL)
        configuration.bodyEncoder = ZlibBodyEncoder(format)
        let agent = RequestAgent(
            configuration: configuration, transport: CurlTransport(), store: nil)
        var description = RequestDescription(endpoint: "In", url: "in")
        description.method = .post
        description.requestSerializer = .json
        description.arguments = ["text": String(repeating: "same again, ", count: 5000)]
        _ = try await agent.start(description).response()
        await agent.shutdown()
        await server.stop()
        let seen = try #require(server.requests.first)
        #expect(seen.values(of: "Content-Encoding") == [format.rawValue])
        #expect(seen.values(of: "Content-Length") == ["\(seen.body.count)"])
        #expect(seen.body.count < 1000)
        let coding = try #require(ContentCoding(rawValue: format.rawValue))
        let plain = try drain(makeChain(coding), seen.body)
        #expect(plain.count == 60_011 && plain.starts(with: Data(#"{"text":"same"#.utf8)))
    }

    private func makeChain(_ coding: ContentCoding) throws -> DecodingChain {
        let limits = DecodingLimits(maximumBytes: nil, maximumRatio: nil)
        return DecodingChain([try #require(coding.makeDecoder())], limits: limits)
    }

    private func drain(_ chain: DecodingChain, _ data: Data) throws -> Data {
        data.withUnsafeBytes { chain.feed($0) }
        var result = Data()
        var buffer = [UInt8](repeating: 0, count: 1 << 14)
        while true {
            switch buffer.withUnsafeMutableBytes({ chain.read(into: $0) }) {
            case .produced(let count): result.append(contentsOf: buffer[..<count])
            case .needsInput:
                try #require(chain.isFinished)
                return result
            case .corrupt, .exceeded:
                throw RequestError(.badContentEncoding, stage: .transport, "")
            }
        }
    }
}
