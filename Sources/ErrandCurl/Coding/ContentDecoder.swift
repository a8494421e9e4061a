import ErrandTransport
import HTTPTypes

/// Decodes one content coding incrementally.
package protocol ContentDecoder: AnyObject {
    /// Whether the decoder has read the end marker of the coding.
    var isFinished: Bool { get }

    /// Consumes part of the input and produces part of the output.
    ///
    /// Input after the end marker is corrupt.
    func decode(
        _ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer
    ) -> DecodedStep
}

/// The result of one decoder call.
package struct DecodedStep: Sendable, Hashable {
    package var consumed = 0
    package var produced = 0
    package var isCorrupt = false

    package static let corrupt = DecodedStep(isCorrupt: true)

    package init(consumed: Int = 0, produced: Int = 0, isCorrupt: Bool = false) {
        self.consumed = consumed
        self.produced = produced
        self.isCorrupt = isCorrupt
    }
}

/// Decodes the content codings of a body, the last applied first, and buffers at most one step per
/// coding.
///
/// The caller pulls the output. If it stops, decoding stops, and unread input is kept for later. A
/// read that produces no output consumes all available input, which ``DecodingLimits`` bounds.
package final class DecodingChain {
    /// The result of one read.
    package enum Outcome: Sendable, Hashable {
        /// This number of bytes is in the buffer.
        case produced(Int)
        /// No output until more input is fed.
        case needsInput
        case corrupt
        /// A stage has exceeded a limit: the last one, which produces the body, or an earlier one.
        case exceeded(DecodingLimits.Excess, isBody: Bool)
    }

    /// A decoder and its unread input.
    private final class Stage {
        let decoder: any ContentDecoder
        var waiting: [UInt8] = []
        var position = 0
        /// The number of bytes produced.
        var produced: Int64 = 0
        /// The last call filled the output buffer, so the decoder may hold more output without new
        /// input.
        var mayHoldOutput = false

        init(_ decoder: any ContentDecoder) { self.decoder = decoder }

        var hasInput: Bool { position < waiting.count }

        func decode(into output: UnsafeMutableRawBufferPointer) -> DecodedStep {
            let step = waiting.withUnsafeBytes { bytes in
                decoder.decode(
                    UnsafeRawBufferPointer(rebasing: bytes[position...]), into: output)
            }
            position += step.consumed
            produced += Int64(step.produced)
            mayHoldOutput = step.produced == output.count
            return step
        }
    }

    private static let stepSize = 16 << 10

    private let stages: [Stage]
    private let limits: DecodingLimits
    /// The number of encoded bytes consumed.
    private var consumed: Int64 = 0

    /// Creates a chain of decoders, in the order in which they run.
    package init(_ decoders: [any ContentDecoder], limits: DecodingLimits) {
        stages = decoders.map(Stage.init)
        self.limits = limits
    }

    /// Whether every decoder has read its end marker and no input is left over.
    package var isFinished: Bool {
        stages.allSatisfy { $0.decoder.isFinished && !$0.hasInput }
    }

    /// Adds encoded bytes.
    package func feed(_ bytes: UnsafeRawBufferPointer) {
        guard let stage = stages.first else { return }
        if !stage.hasInput {
            stage.waiting.removeAll(keepingCapacity: true)
            stage.position = 0
        }
        stage.waiting.append(contentsOf: bytes)
    }

    /// Writes decoded bytes into the buffer.
    package func read(into output: UnsafeMutableRawBufferPointer) -> Outcome {
        read(stages.count - 1, into: output)
    }

    private func read(_ index: Int, into output: UnsafeMutableRawBufferPointer) -> Outcome {
        guard index >= 0 else { return .needsInput }
        let stage = stages[index]
        while true {
            while stage.hasInput || stage.mayHoldOutput {
                let hadInput = stage.hasInput
                let step = stage.decode(into: output)
                if step.isCorrupt { return .corrupt }
                if index == 0 { consumed += Int64(step.consumed) }
                if step.produced > 0 {
                    let isBody = index == stages.count - 1
                    let excess = limits.excess(
                        produced: stage.produced, consumed: consumed, isBody: isBody)
                    if let excess { return .exceeded(excess, isBody: isBody) }
                    return .produced(step.produced)
                }
                if step.consumed == 0, hadInput { return .corrupt }
            }
            guard index > 0 else { return .needsInput }
            var outcome = Outcome.needsInput
            stage.position = 0
            stage.waiting = [UInt8](unsafeUninitializedCapacity: Self.stepSize) { buffer, count in
                outcome = read(index - 1, into: UnsafeMutableRawBufferPointer(buffer))
                if case .produced(let produced) = outcome { count = produced }
            }
            guard case .produced = outcome else { return outcome }
        }
    }
}

#if os(Linux)
    /// A content coding that can be decoded if its library is installed.
    package enum ContentCoding: String, Sendable, CaseIterable {
        case gzip
        case deflate
        case brotli = "br"
        case zstd

        /// Creates the coding with a name from a header, in lower case.
        package init?(name: String) {
            self.init(rawValue: name == "x-gzip" ? "gzip" : name)
        }

        /// The value of `Accept-Encoding`; empty if no library is available.
        package static let announcement: String = {
            var codings = ""
            // `joined(separator:)` would make the runtime search all conformances of the process.
            for coding in allCases where coding.isAvailable {
                codings += codings.isEmpty ? coding.rawValue : ", \(coding.rawValue)"
            }
            return codings
        }()

        /// `Accept-Encoding` with ``announcement``; `nil` if no library is available.
        static let announcementField =
            announcement.isEmpty
            ? nil : HTTPField(name: .acceptEncoding, value: announcement)

        /// Whether the coding's library is available.
        package var isAvailable: Bool {
            switch self {
            case .gzip, .deflate: ZlibLibrary.loaded != nil
            case .brotli: BrotliLibrary.loaded != nil
            case .zstd: ZstdLibrary.loaded != nil
            }
        }

        /// Creates a decoder; `nil` if the library is missing or out of memory.
        package func makeDecoder() -> (any ContentDecoder)? {
            switch self {
            case .gzip: ZlibLibrary.loaded.flatMap { ZlibDecoder($0, format: .gzip) }
            case .deflate: ZlibLibrary.loaded.flatMap { ZlibDecoder($0, format: .deflate) }
            case .brotli: BrotliLibrary.loaded.flatMap { BrotliDecoder($0) }
            case .zstd: ZstdLibrary.loaded.flatMap { ZstdDecoder($0) }
            }
        }
    }
#endif

/// The limits of the bytes that the stages of a ``DecodingChain`` produce.
///
/// The last stage produces the body. The output of an earlier stage is limited too: the next stage
/// may drop it, as padding or as empty blocks, so that a few encoded bytes would cause unbounded
/// work without any body.
package struct DecodingLimits: Sendable, Hashable {
    /// A limit that a stage has exceeded.
    package enum Excess: Sendable, Hashable {
        /// The maximum number of bytes of the body.
        case bytes(Int64)
        /// The maximum ratio to the encoded bytes.
        case ratio(Int)
    }

    /// The number of bytes of a stage that are allowed regardless of the ratio, and of an earlier
    /// stage in addition to those of the body.
    private static let exemptBytes: Int64 = 64 << 10

    private let maximumBytes: Int64?
    private let maximumRatio: Int?

    /// Creates limits; `nil` means no limit.
    ///
    /// - Parameter maximumRatio: See ``TransportOptions/maximumDecodingRatio``.
    package init(maximumBytes: Int64?, maximumRatio: Int?) {
        self.maximumBytes = maximumBytes
        self.maximumRatio = maximumRatio
    }

    /// Returns the limit that a stage has exceeded.
    ///
    /// - Parameters:
    ///   - produced: The bytes that the stage has produced.
    ///   - consumed: The encoded bytes that the first stage has consumed.
    ///   - isBody: Whether the stage is the last one, whose output is the body.
    func excess(produced: Int64, consumed: Int64, isBody: Bool) -> Excess? {
        if let maximumBytes, produced > Self.allowedBytes(maximumBytes, isBody: isBody) {
            return .bytes(maximumBytes)
        }
        guard produced > Self.exemptBytes,
            let ratio = TransportOptions.decodingRatio(maximumRatio, after: produced)
        else { return nil }
        let (allowed, overflows) = consumed.multipliedReportingOverflow(by: Int64(ratio))
        guard !overflows, produced > allowed else { return nil }
        return .ratio(ratio)
    }

    /// The bytes that a stage may produce for a body of this size.
    ///
    /// An earlier stage may produce more than the body has, because a coding adds a header, and a
    /// header to each block.
    private static func allowedBytes(_ maximum: Int64, isBody: Bool) -> Int64 {
        guard !isBody else { return maximum }
        let (doubled, overflows) = maximum.multipliedReportingOverflow(by: 2)
        return overflows ? .max : max(doubled, doubled &+ exemptBytes)
    }
}
