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
