import ErrandCore
import ErrandCurl
import ErrandTesting
import ErrandTransport
import Foundation
import HTTPTypes
import TestSupport
import Testing

/// Encoded samples of one text, and decompression bombs.
enum Sample {
    static let plain = Data(
        String(repeating: "The quick brown fox jumps over the lazy dog. ", count: 40).utf8)

    static let gzip = bytes(
        "H4sIAAAAAAACAwvJSFUoLM1MzlZIKsovz1NIy69QyCrNLShWyC9LLVIoAUrnJFZVKqTkp+sphIwqHlU8qnhU8"
            + "ajiUcXDSzEA5sOVZAgHAAA=")
    static let zlib = bytes(
        "eNoLyUhVKCzNTM5WSCrKL89TSMuvUMgqzS0oVsgvSy1SKAFK5yRWVSqk5KfrKYSMKh5VPKp4VPGo4lHFw0sxA"
            + "IgKhjc=")
    static let deflate = bytes(
        "C8lIVSgszUzOVkgqyi/PU0jLr1DIKs0tKFbIL0stUigBSuckVlUqpOSn6ymEjCoeVTyqeFTxqOJRxcNLMQA=")
    static let brotli = bytes(
        "GwcHAETbRqkuJFsyFMVTkWdy8ucoUBmYV7ayWdBs4ZWnI/KirDYmuEUfGKfS6v5DYDIA")
    static let zstd = bytes(
        "KLUv/WAIBrUBANQCVGhlIHF1aWNrIGJyb3duIGZveCBqdW1wcyBvdmVyIHRoZSBsYXp5IGRvZy4gAQDFFv6qDA==")
    static let gzipInBrotli = bytes(
        "iyeAH4sIAAAAAAACAwvJSFUoLM1MzlZIKsovz1NIy69QyCrNLShWyC9LLVIoAUrnJFZVKqTkp+sphIwqHlU8qn"
            + "hU8ajiUcXDSzEA5sOVZAgHAAAD")
    /// 64 MiB of zeros.
    static let brotliBomb = bytes(
        "y///PwAkAOKxQHLv//j//weABEAcFoDu/R////8AkACIwwLQvf/j//8fABIAcVgAuvd//P//A0ACIA4LQPf+j///"
            + "fwBIAMRhAeje//H//w8ACYA4LADd+7/8//8DIAEQhwWge/8H")
    /// A gzip member with the text and 64 MiB of padding, in Brotli.
    static let paddedGzipInBrotli = bytes(
        "z///fwBk4ppfAd7lf56LBJrAzmebDqxKoBI8mlae3FgAim0S439Gdv8PwfQurGjWKT1XQ2PvXkrhYZ7fGidbq2"
            + "7dxC5qYPySqhWjc+//9EbLYCrBqF7+D66F1SLxgeeiXSNwAAAAAAAA/P//B0ACIA4LQPf+n////wBIAMRhAe"
            + "je//P//x8ACYA4LADd+/94AgAgARCABaAA")
    /// A gzip member with 1 MiB of zeros.
    static let gzipOfZeros: [UInt8] =
        bytes("H4sIAAAAAAACA+3BMQEAAADCoPVPbQhfoA==") + [UInt8](repeating: 0, count: 1016)
        + [0x3E, 0x03, 0x1C, 0xEA, 0x38, 0xA7, 0x00, 0x00, 0x10, 0x00]

    private static func bytes(_ base64: String) -> [UInt8] {
        Array(Data(base64Encoded: base64) ?? Data())
    }
}

/// Decoders with input in pieces of different sizes.
struct DecodingChainTests {
    static let samples: [(ContentCoding, [UInt8])] = [
        (.gzip, Sample.gzip), (.deflate, Sample.zlib), (.deflate, Sample.deflate),
        (.brotli, Sample.brotli), (.zstd, Sample.zstd),
    ]

    /// Feeds pieces and reads with a small buffer; `nil` if the input is corrupt.
    private func decode(
        _ codings: [ContentCoding], _ bytes: [UInt8], piece: Int, room: Int = 7
    ) throws -> (output: Data, isFinished: Bool)? {
        let chain = DecodingChain(
            try codings.map { try #require($0.makeDecoder()) },
            limits: DecodingLimits(maximumBytes: nil, maximumRatio: nil))
        var output = Data()
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: room, alignment: 1)
        defer { buffer.deallocate() }
        var position = 0
        while position < bytes.count {
            let end = min(position + piece, bytes.count)
            bytes[position..<end].withUnsafeBytes { chain.feed($0) }
            position = end
            reading: while true {
                switch chain.read(into: buffer) {
                case .needsInput: break reading
                case .corrupt, .exceeded: return nil
                case .produced(let count): output += Data(buffer[..<count])
                }
            }
        }
        return (output, chain.isFinished)
    }

    @Test(arguments: [1, 2, 3, 17, 1000])
    func codingsDecodeInAnyPieceSize(piece: Int) throws {
        for (coding, bytes) in Self.samples {
            let result = try #require(try decode([coding], bytes, piece: piece))
            #expect(result.output == Sample.plain, "\(coding)")
            #expect(result.isFinished, "\(coding)")
        }
        let stacked = try #require(
            try decode([.brotli, .gzip], Sample.gzipInBrotli, piece: piece))
        #expect(stacked.output == Sample.plain)
        #expect(stacked.isFinished)
    }

    @Test func truncatedInputIsNotFinished() throws {
        for (coding, bytes) in Self.samples {
            for count in 0..<bytes.count {
                let result = try decode([coding], Array(bytes[..<count]), piece: 1000)
                #expect(result?.isFinished != true, "\(coding) at \(count)")
            }
        }
    }

    @Test func changedGzipByteIsDetected() throws {
        // Bytes 4 to 9 are time, flags and system, which do not affect the content.
        for index in Sample.gzip.indices where !(4..<10).contains(index) {
            var bytes = Sample.gzip
            bytes[index] ^= 0x10
            let result = try decode([.gzip], bytes, piece: 1000)
            #expect(result?.isFinished != true, "\(index)")
        }
    }

    @Test func gzipAllowsMembersAndPaddingButNoTrailingData() throws {
        let twice = try #require(
            try decode([.gzip], Sample.gzip + Sample.gzip, piece: 3, room: 1000))
        #expect(twice.output == Sample.plain + Sample.plain)
        #expect(twice.isFinished)
        for zeros in [1, 7, 600] {
            let padded = try #require(
                try decode([.gzip], Sample.gzip + [UInt8](repeating: 0, count: zeros), piece: 5))
            #expect(padded.output == Sample.plain)
            #expect(padded.isFinished)
        }
        #expect(try decode([.gzip], Sample.gzip + [0, 0] + Sample.gzip, piece: 1000) == nil)
        #expect(try decode([.deflate], Sample.zlib + [0], piece: 1000) == nil)
        for (coding, bytes) in Self.samples {
            #expect(try decode([coding], bytes + [0x41, 0x42], piece: 1000) == nil, "\(coding)")
        }
    }
}

/// Content encoding over the wire.
@Suite(.limited)
struct DecodingTests {
    private func serve(_ encoding: String, _ body: [UInt8], times: Int = 1) throws -> RawServer {
        try RawServer { connection in
            while connection.readHead() != nil {
                connection.write(
                    "HTTP/1.1 200 OK\r\nContent-Encoding: \(encoding)\r\n"
                        + "Content-Length: \(body.count * times)\r\n\r\n")
                for _ in 0..<times where !connection.write(body) { return }
            }
        }
    }

    @Test(arguments: [
        ("gzip", Sample.gzip), ("x-gzip", Sample.gzip), ("deflate", Sample.zlib),
        ("Deflate", Sample.deflate), ("br", Sample.brotli), ("zstd", Sample.zstd),
        ("gzip, br", Sample.gzipInBrotli), ("identity", Array(Sample.plain)),
    ])
    func bodyIsDecoded(encoding: String, body: [UInt8]) async throws {
        let server = try serve(encoding, body)
        let record = try await CurlTransport().run(.get, server.url())
        #expect(record.error == nil)
        #expect(record.body == Sample.plain)
        #expect(
            record.head?.contentLength == (encoding == "identity" ? Int64(body.count) : nil))
        #expect(record.end?.timings.bytesReceived == Int64(body.count))
    }

    @Test func acceptEncodingIsSentUnlessOverridden() async throws {
        let server = try PlainRequestTests.echo()
        let transport = CurlTransport()
        let plain = try await transport.run(.get, server.url())
        #expect(
            String(decoding: plain.body, as: UTF8.self).contains(
                "Accept-Encoding: gzip, deflate, br, zstd\r\n"))
        let range = try await transport.run(.get, server.url(), headers: [.range: "bytes=1-"])
        #expect(!String(decoding: range.body, as: UTF8.self).contains("Accept-Encoding"))
        let off = try await transport.run(.get, server.url()) { $0.options.decodesContent = false }
        #expect(!String(decoding: off.body, as: UTF8.self).contains("Accept-Encoding"))
        let own = try await transport.run(.get, server.url(), headers: [.acceptEncoding: "br"])
        #expect(String(decoding: own.body, as: UTF8.self).contains("Accept-Encoding: br\r\n"))
    }

    @Test func disabledDecodingDeliversRawBytes() async throws {
        let server = try serve("gzip", Sample.gzip)
        let record = try await CurlTransport().run(.get, server.url()) {
            $0.options.decodesContent = false
        }
        #expect(record.body == Data(Sample.gzip))
        #expect(record.head?.contentLength == Int64(Sample.gzip.count))
    }

    @Test(arguments: ["gzip", "br", "rot13", "gzip, gzip, gzip, gzip, gzip"])
    func corruptOrUnknownCodingFails(encoding: String) async throws {
        let server = try serve(encoding, Array("this is not encoded at all".utf8))
        let record = try await CurlTransport().run(.get, server.url())
        #expect(record.error?.code == .badContentEncoding)
        #expect(record.head?.status == .ok)
    }

    @Test(arguments: ["rot13", "gzip, rot13", "rot13, gzip"])
    func unknownCodingIsDeliveredOnRequest(encoding: String) async throws {
        let server = try serve(encoding, Sample.gzip)
        let record = try await CurlTransport().run(.get, server.url()) {
            $0.options.deliversUnknownCodings = true
        }
        #expect(record.body == Data(Sample.gzip) && record.error == nil)
        #expect(record.head?.headers[.contentEncoding] == encoding)
    }

    @Test func knownCodingIsDecodedBesideTheOption() async throws {
        let server = try serve("gzip", Sample.gzip)
        let record = try await CurlTransport().run(.get, server.url()) {
            $0.options.deliversUnknownCodings = true
        }
        #expect(record.error == nil && record.body != Data(Sample.gzip))
    }

    @Test func truncatedGzipWithMatchingLengthFails() async throws {
        let server = try serve("gzip", Array(Sample.gzip.dropLast(4)))
        let record = try await CurlTransport().run(.get, server.url())
        #expect(record.error?.code == .badContentEncoding)
    }

    @Test func emptyBodyIsNotDecoded() async throws {
        let server = try serve("gzip", [])
        let record = try await CurlTransport().run(.get, server.url())
        #expect(record.error == nil)
    }

    @Test func decompressionBombIsStopped() async throws {
        let brotli = try serve("br", Sample.brotliBomb)
        let first = try await CurlTransport().run(.get, brotli.url())
        #expect(first.error?.code == .bodyTooLarge)
        #expect(first.body.count <= 256 << 10)
        let gzip = try serve("gzip", Sample.gzipOfZeros, times: 2000)
        let second = try await CurlTransport().run(.get, gzip.url()) {
            $0.options.maximumBodyBytes = 3_000_000
            $0.options.maximumDecodingRatio = nil
        }
        #expect(second.error?.code == .bodyTooLarge)
        #expect(second.body.count <= 3_000_000)
        #expect(second.body.count > 2_000_000)
    }

    @Test func stackedBombWithoutOutputIsStopped() async throws {
        let server = try serve("gzip, br", Sample.paddedGzipInBrotli)
        let record = try await CurlTransport().run(.get, server.url())
        let error = try #require(record.error)
        #expect(error.code == .bodyTooLarge)
        #expect(error.message.contains("partly decoded body is more than 1000 times"))
        #expect(record.body.count <= Sample.plain.count)
    }

    @Test func pauseWithinChunkKeepsDecodedBytes() async throws {
        let server = try serve("br", Sample.brotliBomb)
        var request = TransportRequest(url: try .test(server.url()))
        request.options.maximumDecodingRatio = nil
        let recorder = RecordingReceiver(keepsBody: false) { $0.chunks % 100 == 0 ? .pause : .more }
        let transfer = CurlTransport().start(request, receiver: recorder)
        for pause in 1...10 {
            let seen = try await recorder.until { $0.chunks >= pause * 100 }
            #expect(seen.chunks == pause * 100)
            #expect(seen.end == nil)
            transfer.resumeReceiving()
        }
        let record = try await recorder.ended()
        #expect(record.error == nil)
        #expect(record.chunks == 1024)
    }
}
