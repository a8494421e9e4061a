/// The functions of the system's zlib, which is loaded at run time; libcurl depends on it.
package struct ZlibLibrary: Sendable {
    package typealias StartInflating =
        @convention(c) (UnsafeMutableRawPointer, Int32, UnsafePointer<CChar>, Int32) -> Int32
    package typealias StartDeflating =
        @convention(c) (
            UnsafeMutableRawPointer, Int32, Int32, Int32, Int32, Int32, UnsafePointer<CChar>, Int32
        ) -> Int32
    package typealias Step = @convention(c) (UnsafeMutableRawPointer, Int32) -> Int32
    package typealias Change = @convention(c) (UnsafeMutableRawPointer) -> Int32
    package typealias ReadDictionary =
        @convention(c) (
            UnsafeMutableRawPointer, UnsafeMutableRawPointer?, UnsafeMutablePointer<UInt32>
        ) -> Int32
    package typealias SetDictionary =
        @convention(c) (UnsafeMutableRawPointer, UnsafeRawPointer?, UInt32) -> Int32

    /// `nil` if zlib is not installed.
    package static let loaded = ZlibLibrary()

    package let startInflating: StartInflating
    package let inflate: Step
    package let resetInflating: Change
    package let endInflating: Change
    package let readDictionary: ReadDictionary
    package let setDictionary: SetDictionary
    package let startDeflating: StartDeflating
    package let deflate: Step
    package let endDeflating: Change
    /// `nil` before zlib 1.2.11.
    package let readSentDictionary: ReadDictionary?
    package let setSentDictionary: SetDictionary

    private init?() {
        #if canImport(Darwin)
            let name = "libz.1.dylib"
        #else
            let name = "libz.so.1"
        #endif
        guard let library = SharedLibrary(name),
            let startInflating = library.function("inflateInit2_", as: StartInflating.self),
            let inflate = library.function("inflate", as: Step.self),
            let resetInflating = library.function("inflateReset", as: Change.self),
            let endInflating = library.function("inflateEnd", as: Change.self),
            let readDictionary = library.function(
                "inflateGetDictionary", as: ReadDictionary.self),
            let setDictionary = library.function("inflateSetDictionary", as: SetDictionary.self),
            let startDeflating = library.function("deflateInit2_", as: StartDeflating.self),
            let deflate = library.function("deflate", as: Step.self),
            let endDeflating = library.function("deflateEnd", as: Change.self),
            let setSentDictionary = library.function(
                "deflateSetDictionary", as: SetDictionary.self)
        else { return nil }
        readSentDictionary = library.function("deflateGetDictionary", as: ReadDictionary.self)
        self.setSentDictionary = setSentDictionary
        self.startInflating = startInflating
        self.inflate = inflate
        self.resetInflating = resetInflating
        self.endInflating = endInflating
        self.readDictionary = readDictionary
        self.setDictionary = setDictionary
        self.startDeflating = startDeflating
        self.deflate = deflate
        self.endDeflating = endDeflating
    }
}

/// zlib's `z_stream`, whose fourteen fields begin at multiples of a word, as its ABI has had it since 1.0.
// @unchecked: its memory belongs to it alone.
package struct ZlibStream: ~Copyable, @unchecked Sendable {
    private static let word = MemoryLayout<UInt>.size
    package static let size = Int32(14 * word)
    /// zlib compares the first character with that of its own version.
    package static let version = "1"

    /// zlib stores the address of the stream.
    package let address = UnsafeMutableRawPointer.allocate(byteCount: 14 * word, alignment: 16)

    package init() { reset() }

    deinit { address.deallocate() }

    /// Forgets what the fields have.
    package func reset() {
        address.initializeMemory(as: UInt8.self, repeating: 0, count: 14 * Self.word)
    }

    /// `next_in` and `avail_in`; returns how many bytes of the input zlib sees.
    package func setInput(_ input: UnsafeRawBufferPointer) -> Int {
        let count = UInt32(clamping: input.count)
        address.storeBytes(of: UInt(bitPattern: input.baseAddress), as: UInt.self)
        address.storeBytes(of: count, toByteOffset: Self.word, as: UInt32.self)
        return Int(count)
    }

    /// `next_out` and `avail_out`; returns how many bytes of the room zlib sees.
    package func setOutput(_ room: UnsafeMutableRawBufferPointer) -> Int {
        let count = UInt32(clamping: room.count)
        address.storeBytes(
            of: UInt(bitPattern: room.baseAddress), toByteOffset: 3 * Self.word, as: UInt.self)
        address.storeBytes(of: count, toByteOffset: 4 * Self.word, as: UInt32.self)
        return Int(count)
    }

    /// `avail_in`.
    package var inputLeft: Int {
        Int(address.load(fromByteOffset: Self.word, as: UInt32.self))
    }

    /// `avail_out`.
    package var roomLeft: Int {
        Int(address.load(fromByteOffset: 4 * Self.word, as: UInt32.self))
    }

    /// `data_type`: after `inflate`, the number of unused bits in the last byte, and flags.
    package var dataType: Int32 {
        address.load(fromByteOffset: 11 * Self.word, as: Int32.self)
    }
}
