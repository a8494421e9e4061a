/// Undoes one content coding, bytes in and bytes out, at the caller's pace.
package protocol ContentDecoder: AnyObject {
    /// Whether the coding's own end mark has been read.
    var isFinished: Bool { get }

    /// Takes some of the input, gives some output. Input behind the end mark is corrupt.
    func decode(
        _ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer
    ) -> DecodedStep
}

/// What one call of a decoder has done.
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
