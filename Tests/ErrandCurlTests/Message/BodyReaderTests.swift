import ErrandTransport
import Foundation
import HTTPTypes
import Testing

@testable import ErrandCurl

/// The length, the limits and the content codings of a body that is received.
struct BodyReaderTests {
    /// More codings than a reader accepts.
    private static let fiveCodings = "gzip, gzip, gzip, gzip, gzip"

    private struct Delivery {
        var pieces: [[UInt8]] = []
        var error: RequestError?

        var bytes: [UInt8] { Array(pieces.joined()) }
    }

    private func reader(
        _ change: (inout TransportOptions) -> Void = { _ in }
    ) -> BodyReader {
        var options = TransportOptions()
        change(&options)
        var reader = BodyReader()
        reader.reset(options)
        return reader
    }

    private func framing(
        length: Int? = nil, transferCoding: String? = nil, codings: String? = nil
    ) throws -> BodyFraming {
        var framing = BodyFraming()
        if let length {
            let field = HTTPField(name: .contentLength, value: "\(length)")
            try framing.add(field, meaning: .contentLength)
        }
        if let transferCoding {
            let field = HTTPField(name: .transferEncoding, value: transferCoding)
            try framing.add(field, meaning: .transferEncoding)
        }
        if let codings {
            let field = HTTPField(name: .contentEncoding, value: codings)
            try framing.add(field, meaning: .contentEncoding)
        }
        return framing
    }

    /// Delivers bytes, or with `nil` the rest after a pause, to a receiver that pauses after this
    /// number of pieces.
    private func deliver(
        _ bytes: [UInt8]?, to reader: inout BodyReader, bufferSize: Int = 1024,
        pausingAfter limit: Int = .max
    ) -> Delivery {
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: bufferSize, alignment: 16)
        defer { buffer.deallocate() }
        var pieces: [[UInt8]] = []
        func receive(_ piece: UnsafeRawBufferPointer) -> Bool {
            pieces.append(Array(piece))
            return pieces.count < limit
        }
        let error: RequestError?
        if let bytes {
            error = bytes.withUnsafeBytes { reader.deliver($0, by: buffer, to: receive) }
        } else {
            error = reader.deliver(nil, by: buffer, to: receive)
        }
        return Delivery(pieces: pieces, error: error)
    }

    // MARK: - Length

    @Test func newReaderExpectsNoLength() {
        let reader = BodyReader()
        #expect(!reader.isDecoding && !reader.hasEndMarker)
        #expect(reader.bytesReceived == 0 && reader.errorAtEnd() == nil)
    }

    @Test func receivedBytesAreCounted() throws {
        var reader = reader()
        _ = reader.begin(try framing(length: 5))
        let first = deliver([1, 2, 3], to: &reader)
        #expect(first.pieces == [[1, 2, 3]] && first.error == nil && reader.bytesReceived == 3)
        _ = deliver([4, 5], to: &reader)
        #expect(reader.bytesReceived == 5)
    }

    @Test func responseWithoutABodyHasNoErrorAtItsEnd() {
        var reader = reader { $0.maximumBodyBytes = 0 }
        reader.beginEmpty()
        #expect(!reader.isDecoding && reader.errorAtEnd() == nil)
    }

    @Test func receiverIsNotCalledWithoutBytes() throws {
        var reader = reader()
        _ = reader.begin(try framing(length: 5))
        for bytes in [nil, []] as [[UInt8]?] {
            let delivery = deliver(bytes, to: &reader)
            #expect(delivery.pieces.isEmpty && delivery.error == nil)
        }
        #expect(reader.bytesReceived == 0)
    }

    /// Without a decoder nothing remains for a later call.
    @Test func bytesArePassedOnOnceDuringAPause() throws {
        var reader = reader()
        _ = reader.begin(try framing())
        let first = deliver([1, 2, 3], to: &reader, bufferSize: 2, pausingAfter: 1)
        #expect(first.pieces == [[1, 2, 3]])
        let rest = deliver(nil, to: &reader)
        #expect(rest.pieces.isEmpty && rest.error == nil)
    }

    // MARK: - Limits

    @Test(arguments: [(0, 0, false), (0, 1, true), (5, 5, false), (5, 6, true)])
    func announcedLengthIsLimited(limit: Int, length: Int, isTooLarge: Bool) throws {
        var reader = reader { $0.maximumBodyBytes = Int64(limit) }
        let error = reader.begin(try framing(length: length))
        #expect(error?.code == (isTooLarge ? .bodyTooLarge : nil))
        if isTooLarge { #expect(error?.message.contains("limit of \(limit) bytes") == true) }
    }

    @Test(arguments: [nil, 6] as [Int?])
    func receivedBytesAreLimitedWithoutAnAnnouncedLength(length: Int?) throws {
        var reader = reader { $0.maximumBodyBytes = 5 }
        let error = reader.begin(try framing(length: length, transferCoding: "chunked"))
        #expect(error == nil)
        let first = deliver([1, 2, 3, 4, 5], to: &reader)
        #expect(first.bytes == [1, 2, 3, 4, 5] && first.error == nil)
        let empty = deliver([], to: &reader)
        #expect(empty.error == nil)
        for _ in 0..<2 {
            let surplus = deliver([6], to: &reader)
            #expect(surplus.pieces.isEmpty && surplus.error?.code == .bodyTooLarge)
        }
        #expect(reader.bytesReceived == 7)
    }

    /// The announced length of an encoded body is not its size.
    @Test(arguments: [(10, true), (1799, true), (1800, false)])
    func limitAppliesToTheDecodedBytes(limit: Int, isTooLarge: Bool) throws {
        try #require(Sample.plain.count == 1800 && Sample.gzip.count > 10)
        let framing = try framing(length: Sample.gzip.count, codings: "gzip")
        var reader = reader { $0.maximumBodyBytes = Int64(limit) }
        let error = reader.begin(framing)
        #expect(error == nil && reader.isDecoding)
        let delivery = deliver(Sample.gzip, to: &reader)
        #expect(delivery.error?.code == (isTooLarge ? .bodyTooLarge : nil))
        #expect(delivery.bytes.count <= limit)
        if !isTooLarge { #expect(delivery.bytes == Array(Sample.plain)) }
    }

    @Test func limitAppliesToTheEncodedBytesThatAreNotDecoded() throws {
        var reader = reader {
            $0.maximumBodyBytes = 10
            $0.decodesContent = false
        }
        let error = reader.begin(try framing(length: 11, codings: "gzip"))
        #expect(error?.code == .bodyTooLarge)
    }

    // MARK: - Content codings

    @Test(
        arguments: [
            ("gzip", true), ("X-GZIP", true), ("gzip, identity, gzip, gzip, gzip, none", true),
            ("identity", false), ("none", false), (", ,", false),
        ])
    func knownCodingsAreDecoded(codings: String, isDecoding: Bool) throws {
        var reader = reader()
        let error = reader.begin(try framing(codings: codings))
        #expect(error == nil)
        #expect(reader.isDecoding == isDecoding)
    }

    @Test(
        arguments: [
            ("sdch", "not supported"), ("gzip, sdch", "not supported"),
            (Self.fiveCodings, "more than 4 codings"),
        ])
    func unusableCodingFails(codings: String, reason: String) throws {
        var reader = reader()
        let error = reader.begin(try framing(codings: codings))
        #expect(error?.code == .badContentEncoding)
        #expect(error?.message.contains(reason) == true)
        #expect(!reader.isDecoding)
    }

    @Test(
        arguments: [
            ("gzip", false, false), ("sdch", false, false), (Self.fiveCodings, false, false),
            ("sdch", true, true), ("gzip, sdch", true, true), ("sdch, a, b, c, d", true, true),
        ])
    func bodyIsDeliveredAsReceived(
        codings: String, decodesContent: Bool, deliversUnknownCodings: Bool
    ) throws {
        var reader = reader {
            $0.decodesContent = decodesContent
            $0.deliversUnknownCodings = deliversUnknownCodings
        }
        let error = reader.begin(try framing(codings: codings))
        #expect(error == nil && !reader.isDecoding)
        let delivery = deliver([1, 2, 3], to: &reader)
        #expect(delivery.pieces == [[1, 2, 3]] && delivery.error == nil)
        #expect(!reader.hasEndMarker && reader.errorAtEnd() == nil)
    }

    @Test func knownCodingsAreDecodedAlsoWhereUnknownOnesAreDelivered() throws {
        var reader = reader { $0.deliversUnknownCodings = true }
        let one = reader.begin(try framing(codings: "gzip"))
        #expect(one == nil && reader.isDecoding)
        reader.releaseDecoders()
        let five = reader.begin(try framing(codings: Self.fiveCodings))
        #expect(five?.code == .badContentEncoding)
    }

    @Test func emptyBodyIsNotDecoded() throws {
        var reader = reader()
        let error = reader.begin(try framing(length: 0, codings: "sdch"))
        #expect(error == nil && !reader.isDecoding)
        #expect(reader.errorAtEnd() == nil)
    }

    @Test func pausedDecodingContinues() throws {
        var reader = reader()
        _ = reader.begin(try framing(codings: "gzip"))
        let first = deliver(Sample.gzip, to: &reader, bufferSize: 100, pausingAfter: 1)
        #expect(first.pieces.count == 1 && first.error == nil)
        let second = deliver(nil, to: &reader, bufferSize: 100, pausingAfter: 2)
        #expect(second.pieces.count == 2 && second.error == nil)
        let rest = deliver(nil, to: &reader, bufferSize: 100)
        #expect(rest.error == nil)
        #expect(first.bytes + second.bytes + rest.bytes == Array(Sample.plain))
        let nothing = deliver(nil, to: &reader, bufferSize: 100)
        #expect(nothing.pieces.isEmpty && nothing.error == nil)
        #expect(reader.bytesReceived == Int64(Sample.gzip.count))
        #expect(reader.errorAtEnd() == nil)
    }

    @Test func corruptBodyFails() throws {
        var reader = reader()
        _ = reader.begin(try framing(codings: "gzip"))
        let delivery = deliver([1, 2, 3, 4], to: &reader)
        #expect(delivery.pieces.isEmpty)
        #expect(delivery.error?.code == .badContentEncoding)
        #expect(delivery.error?.message.contains("It is corrupt.") == true)
    }

    /// A coding has an end marker, but a response may have no body at all.
    @Test(arguments: [0, 1, 20, Sample.gzip.count - 1, Sample.gzip.count])
    func missingEndOfAnEncodedBodyIsAnError(count: Int) throws {
        let isTruncated = count > 0 && count < Sample.gzip.count
        var reader = reader()
        _ = reader.begin(try framing(codings: "gzip"))
        let delivery = deliver(Array(Sample.gzip[..<count]), to: &reader)
        #expect(delivery.error == nil)
        #expect(reader.hasEndMarker == (count > 0))
        let error = reader.errorAtEnd()
        #expect(error?.code == (isTruncated ? .badContentEncoding : nil))
        if isTruncated { #expect(error?.message.contains("It is truncated.") == true) }
    }

    /// The connection decides about the end of a body without a coding.
    @Test func incompletePlainBodyIsNoErrorOfTheReader() throws {
        var reader = reader()
        _ = reader.begin(try framing(length: 5))
        _ = deliver([1], to: &reader)
        #expect(reader.errorAtEnd() == nil && !reader.hasEndMarker)
    }

    // MARK: - Use for another response

    @Test func releasedDecodersReportNoError() throws {
        var reader = reader()
        _ = reader.begin(try framing(codings: "gzip"))
        _ = deliver([0x1F], to: &reader)
        #expect(reader.isDecoding && reader.errorAtEnd() != nil)
        reader.releaseDecoders()
        #expect(!reader.isDecoding && !reader.hasEndMarker && reader.errorAtEnd() == nil)
    }

    @Test func resetForgetsTheLastResponse() throws {
        var reader = reader {
            $0.maximumBodyBytes = 5
            $0.decodesContent = false
        }
        _ = reader.begin(try framing(length: 2, transferCoding: "identity"))
        _ = deliver([1, 2], to: &reader)
        reader.reset(TransportOptions())
        #expect(reader.bytesReceived == 0)
        let large = reader.begin(try framing(length: 6))
        #expect(large == nil)
        _ = reader.begin(try framing(codings: "gzip"))
        #expect(reader.isDecoding)
        reader.reset(TransportOptions())
        #expect(!reader.isDecoding)
    }
}
