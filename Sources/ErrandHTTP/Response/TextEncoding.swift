import ErrandSystem

/// A character encoding of the WHATWG Encoding Standard, or UTF-32.
///
/// On Linux, iconv of the C library decodes all encodings but those of Unicode; on other platforms, Foundation does.
struct TextEncoding: Sendable {
    /// The name of the standard in lower case.
    let name: String
    private let decoder: Decoder

    private enum Decoder: Sendable {
        case foundation(String.Encoding)
        /// An encoding with one byte for each character, and the characters that differ from those of iconv.
        case singleByte(iconv: String, coreFoundation: UInt, [UInt8: Unicode.Scalar] = [:])
        case multiByte(iconv: String, coreFoundation: UInt)
    }

    /// The encoding with a label; `nil` if the label is unknown, or if the standard does not decode it.
    init?(label: some StringProtocol) {
        let label = String(label).lowercasedASCII()
        guard let index = Self.indices[label] else { return nil }
        self = Self.all[index].encoding
    }

    /// The text of bytes; `nil` if they are not valid in the encoding.
    func decode(_ data: Data) -> String? {
        switch decoder {
        case .foundation(.utf8): return String(validating: data, as: UTF8.self)
        case .foundation(let encoding): return String(data: data, encoding: encoding)
        #if os(Linux)
            case .singleByte(let iconv, _, let differences):
                guard let table = singleByteTable(iconv, differences) else { return nil }
                var text = String.UnicodeScalarView()
                for byte in data {
                    guard let scalar = table[Int(byte)] else { return nil }
                    text.append(scalar)
                }
                return String(text)
            case .multiByte(let iconv, _):
                return Conversion(from: iconv)?.text(of: data, euro: name == "gbk")
        #else
            case .singleByte(_, let number, _), .multiByte(_, let number):
                let encoding =
                    number == 0 ? .macOSRoman : String.Encoding(rawValue: 0x8000_0000 | number)
                return String(data: data, encoding: encoding)
        #endif
        }
    }

    #if os(Linux)
        private func singleByteTable(
            _ iconv: String, _ differences: [UInt8: Unicode.Scalar]
        ) -> [Unicode.Scalar?]? {
            guard let conversion = Conversion(from: iconv) else { return nil }
            return (UInt8.min...UInt8.max).map { byte in
                if let scalar = differences[byte] { return scalar }
                if let scalar = conversion.text(of: Data([byte]))?.unicodeScalars.first {
                    return scalar
                }
                // The standard's tables of Windows have control characters where those of iconv have gaps.
                return (0x80...0x9F).contains(byte) ? Unicode.Scalar(byte) : nil
            }
        }
    #endif
}

#if os(Linux)
    /// A conversion of iconv to UTF-8.
    private final class Conversion {
        private let handle: iconv_t

        init?(from name: String) {
            guard let handle = iconv_open("UTF-8", name), Int(bitPattern: handle) != -1 else {
                return nil
            }
            self.handle = handle
        }

        deinit { iconv_close(handle) }

        /// The text of bytes; `nil` if they are not valid.
        ///
        /// - Parameter euro: Whether the byte 0x80 is a Euro sign, as in the standard's GBK.
        func text(of data: Data, euro: Bool = false) -> String? {
            // Returns to the first state.
            _ = iconv(handle, nil, nil, nil, nil)
            var input = Array(data).map { CChar(bitPattern: $0) }
            var output: [UInt8] = []
            output.reserveCapacity(input.count * 2)
            let isComplete = input.withUnsafeMutableBufferPointer { input in
                var next = input.baseAddress
                var left = input.count
                while left > 0 {
                    let count = convert(&next, &left, into: &output)
                    if count != -1 || errno == E2BIG { continue }
                    guard euro, errno == EILSEQ, let byte = next?.pointee, byte == -128 else {
                        return false
                    }
                    output += "€".utf8
                    next = next?.advanced(by: 1)
                    left -= 1
                }
                return true
            }
            guard isComplete else { return nil }
            // A combining sequence may be kept until the end.
            var (none, left): (UnsafeMutablePointer<CChar>?, Int) = (nil, 0)
            _ = convert(&none, &left, into: &output)
            return String(validating: output, as: UTF8.self)
        }

        /// Converts as many bytes as fit into 4 KiB; returns -1 with `errno` for an error.
        private func convert(
            _ next: inout UnsafeMutablePointer<CChar>?, _ left: inout Int,
            into output: inout [UInt8]
        ) -> Int {
            withUnsafeTemporaryAllocation(of: CChar.self, capacity: 4096) { buffer in
                var end = buffer.baseAddress
                var free = buffer.count
                let count = iconv(handle, &next, &left, &end, &free)
                let code = errno
                output += buffer.prefix(buffer.count - free).map { UInt8(bitPattern: $0) }
                errno = code
                return count
            }
        }
    }
#endif

extension TextEncoding {
    private struct Entry: Sendable {
        let encoding: TextEncoding
        let labels: String

        init(_ name: String, _ decoder: Decoder, _ labels: String) {
            encoding = TextEncoding(name: name, decoder: decoder)
            self.labels = labels
        }
    }

    private init(name: String, decoder: Decoder) {
        self.name = name
        self.decoder = decoder
    }

    private static let indices: [String: Int] = {
        var indices: [String: Int] = [:]
        for (index, entry) in all.enumerated() {
            for label in entry.labels.pieces(at: " ") { indices[String(label)] = index }
        }
        return indices
    }()

    /// The encodings and their labels (WHATWG Encoding §4.2), without x-user-defined and the replacement encoding.
    private static let all: [Entry] = [
        Entry(
            "utf-8", .foundation(.utf8),
            "unicode-1-1-utf-8 unicode11utf8 unicode20utf8 utf-8 utf8 x-unicode20utf8"),
        Entry(
            "ibm866", .singleByte(iconv: "CP866", coreFoundation: 0x0419),
            "866 cp866 csibm866 ibm866"),
        Entry(
            "iso-8859-2", .singleByte(iconv: "ISO-8859-2", coreFoundation: 0x0202),
            "csisolatin2 iso-8859-2 iso-ir-101 iso8859-2 iso88592 iso_8859-2 iso_8859-2:1987 l2 latin2"
        ),
        Entry(
            "iso-8859-3", .singleByte(iconv: "ISO-8859-3", coreFoundation: 0x0203),
            "csisolatin3 iso-8859-3 iso-ir-109 iso8859-3 iso88593 iso_8859-3 iso_8859-3:1988 l3 latin3"
        ),
        Entry(
            "iso-8859-4", .singleByte(iconv: "ISO-8859-4", coreFoundation: 0x0204),
            "csisolatin4 iso-8859-4 iso-ir-110 iso8859-4 iso88594 iso_8859-4 iso_8859-4:1988 l4 latin4"
        ),
        Entry(
            "iso-8859-5", .singleByte(iconv: "ISO-8859-5", coreFoundation: 0x0205),
            "csisolatincyrillic cyrillic iso-8859-5 iso-ir-144 iso8859-5 iso88595 iso_8859-5 iso_8859-5:1988"
        ),
        Entry(
            "iso-8859-6", .singleByte(iconv: "ISO-8859-6", coreFoundation: 0x0206),
            "arabic asmo-708 csiso88596e csiso88596i csisolatinarabic ecma-114 iso-8859-6 iso-8859-6-e "
                + "iso-8859-6-i iso-ir-127 iso8859-6 iso88596 iso_8859-6 iso_8859-6:1987"),
        Entry(
            "iso-8859-7", .singleByte(iconv: "ISO-8859-7", coreFoundation: 0x0207),
            "csisolatingreek ecma-118 elot_928 greek greek8 iso-8859-7 iso-ir-126 iso8859-7 iso88597 "
                + "iso_8859-7 iso_8859-7:1987 sun_eu_greek"),
        Entry(
            "iso-8859-8", .singleByte(iconv: "ISO-8859-8", coreFoundation: 0x0208),
            "csiso88598e csisolatinhebrew hebrew iso-8859-8 iso-8859-8-e iso-ir-138 iso8859-8 iso88598 "
                + "iso_8859-8 iso_8859-8:1988 visual"),
        Entry(
            "iso-8859-8-i", .singleByte(iconv: "ISO-8859-8", coreFoundation: 0x0208),
            "csiso88598i iso-8859-8-i logical"),
        Entry(
            "iso-8859-10", .singleByte(iconv: "ISO-8859-10", coreFoundation: 0x020A),
            "csisolatin6 iso-8859-10 iso-ir-157 iso8859-10 iso885910 l6 latin6"),
        Entry(
            "iso-8859-13", .singleByte(iconv: "ISO-8859-13", coreFoundation: 0x020D),
            "iso-8859-13 iso8859-13 iso885913"),
        Entry(
            "iso-8859-14", .singleByte(iconv: "ISO-8859-14", coreFoundation: 0x020E),
            "iso-8859-14 iso8859-14 iso885914"),
        Entry(
            "iso-8859-15", .singleByte(iconv: "ISO-8859-15", coreFoundation: 0x020F),
            "csisolatin9 iso-8859-15 iso8859-15 iso885915 iso_8859-15 l9"),
        Entry(
            "iso-8859-16", .singleByte(iconv: "ISO-8859-16", coreFoundation: 0x0210), "iso-8859-16"),
        Entry(
            "koi8-r", .singleByte(iconv: "KOI8-R", coreFoundation: 0x0A02),
            "cskoi8r koi koi8 koi8-r koi8_r"),
        Entry(
            "koi8-u",
            .singleByte(
                iconv: "KOI8-U", coreFoundation: 0x0A08, [0xAE: "\u{45E}", 0xBE: "\u{40E}"]),
            "koi8-ru koi8-u"),
        Entry(
            "macintosh",
            .singleByte(
                iconv: "MACINTOSH", coreFoundation: 0, [0xC6: "\u{2206}", 0xF0: "\u{F8FF}"]),
            "csmacintosh mac macintosh x-mac-roman"),
        Entry(
            "windows-874", .singleByte(iconv: "CP874", coreFoundation: 0x041D),
            "dos-874 iso-8859-11 iso8859-11 iso885911 tis-620 windows-874"),
        Entry(
            "windows-1250", .singleByte(iconv: "CP1250", coreFoundation: 0x0501),
            "cp1250 windows-1250 x-cp1250"),
        Entry(
            "windows-1251", .singleByte(iconv: "CP1251", coreFoundation: 0x0502),
            "cp1251 windows-1251 x-cp1251"),
        Entry(
            "windows-1252", .singleByte(iconv: "CP1252", coreFoundation: 0x0500),
            "ansi_x3.4-1968 ascii cp1252 cp819 csisolatin1 ibm819 iso-8859-1 iso-ir-100 iso8859-1 iso88591 "
                + "iso_8859-1 iso_8859-1:1987 l1 latin1 us-ascii windows-1252 x-cp1252"),
        Entry(
            "windows-1253", .singleByte(iconv: "CP1253", coreFoundation: 0x0503),
            "cp1253 windows-1253 x-cp1253"),
        Entry(
            "windows-1254", .singleByte(iconv: "CP1254", coreFoundation: 0x0504),
            "cp1254 csisolatin5 iso-8859-9 iso-ir-148 iso8859-9 iso88599 iso_8859-9 iso_8859-9:1989 l5 latin5 "
                + "windows-1254 x-cp1254"),
        Entry(
            "windows-1255",
            .singleByte(iconv: "CP1255", coreFoundation: 0x0505, [0xCA: "\u{5BA}"]),
            "cp1255 windows-1255 x-cp1255"),
        Entry(
            "windows-1256", .singleByte(iconv: "CP1256", coreFoundation: 0x0506),
            "cp1256 windows-1256 x-cp1256"),
        Entry(
            "windows-1257", .singleByte(iconv: "CP1257", coreFoundation: 0x0507),
            "cp1257 windows-1257 x-cp1257"),
        Entry(
            "windows-1258", .singleByte(iconv: "CP1258", coreFoundation: 0x0508),
            "cp1258 windows-1258 x-cp1258"),
        Entry(
            "x-mac-cyrillic",
            .singleByte(iconv: "MAC-UK", coreFoundation: 0x98, [0xFF: "\u{20AC}"]),
            "x-mac-cyrillic x-mac-ukrainian"),
        Entry(
            "gbk", .multiByte(iconv: "GB18030", coreFoundation: 0x0632),
            "chinese csgb2312 csiso58gb231280 gb2312 gb_2312 gb_2312-80 gbk iso-ir-58 x-gbk"),
        Entry("gb18030", .multiByte(iconv: "GB18030", coreFoundation: 0x0632), "gb18030"),
        Entry(
            "big5", .multiByte(iconv: "BIG5-HKSCS", coreFoundation: 0x0A06),
            "big5 big5-hkscs cn-big5 csbig5 x-x-big5"),
        Entry(
            "euc-jp", .multiByte(iconv: "EUC-JP-MS", coreFoundation: 0x0920),
            "cseucpkdfmtjapanese euc-jp x-euc-jp"),
        Entry(
            "iso-2022-jp", .multiByte(iconv: "ISO-2022-JP", coreFoundation: 0x0820),
            "csiso2022jp iso-2022-jp"),
        Entry(
            "shift_jis", .multiByte(iconv: "CP932", coreFoundation: 0x0420),
            "csshiftjis ms932 ms_kanji shift-jis shift_jis sjis windows-31j x-sjis"),
        Entry(
            "euc-kr", .multiByte(iconv: "UHC", coreFoundation: 0x0422),
            "cseuckr csksc56011987 euc-kr iso-ir-149 korean ks_c_5601-1987 ks_c_5601-1989 ksc5601 ksc_5601 "
                + "windows-949"),
        Entry("utf-16be", .foundation(.utf16BigEndian), "unicodefffe utf-16be"),
        Entry(
            "utf-16le", .foundation(.utf16LittleEndian),
            "csunicode iso-10646-ucs-2 ucs-2 unicode unicodefeff utf-16 utf-16le"),
        // Not in the standard.
        Entry("utf-32be", .foundation(.utf32BigEndian), "utf-32 utf-32be"),
        Entry("utf-32le", .foundation(.utf32LittleEndian), "utf-32le"),
    ]
}
