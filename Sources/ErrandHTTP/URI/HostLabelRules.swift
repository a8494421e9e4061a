/// Checks the non-ASCII characters of a host label (UTS #46 §4.1), as far as general categories allow.
///
/// The standard library has no joining types and no bidirectional classes. For the scripts that need
/// them, this type contains the ranges.
package enum HostLabelRules {
    /// The problem of a mapped label, for an error message; `nil` if the label is valid.
    package static func problem(in label: String) -> String? {
        let scalars = Array(label.unicodeScalars)
        if let first = scalars.first, isMark(first) {
            return "a label that begins with a combining mark"
        }
        for (index, scalar) in scalars.enumerated() where scalar.value >= 0x80 {
            if scalar == "\u{200C}" || scalar == "\u{200D}" {
                guard allowsJoiner(scalars, at: index) else {
                    return "a zero-width joiner where none is allowed"
                }
                continue
            }
            switch scalar.properties.generalCategory {
            case .control, .format, .surrogate, .privateUse, .unassigned, .spaceSeparator,
                .lineSeparator, .paragraphSeparator:
                return
                    "U+\(String(scalar.value, radix: 16, uppercase: true)), which a host name must not contain"
            default: continue
            }
        }
        let isRightToLeft = scalars.contains(where: isRightToLeft)
        let hasLatin = scalars.contains { $0.isASCII && $0.properties.isAlphabetic }
        if isRightToLeft, hasLatin || scalars.first?.properties.numericType != nil {
            return "left-to-right and right-to-left letters in one label"
        }
        return nil
    }

    private static func isMark(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .nonspacingMark, .spacingMark, .enclosingMark: true
        default: false
        }
    }

    /// Whether a joiner is allowed here (RFC 5892 appendix A.1, A.2): after a virama, or, for the non-joiner,
    /// between letters that would join.
    private static func allowsJoiner(_ scalars: [Unicode.Scalar], at index: Int) -> Bool {
        guard index > 0 else { return false }
        let before = scalars[index - 1]
        if before.properties.canonicalCombiningClass == .virama { return true }
        guard scalars[index] == "\u{200C}", index + 1 < scalars.count else { return false }
        return isArabicLetter(before) && !joinsOnlyToTheRight.contains(before.value)
            && isArabicLetter(scalars[index + 1])
    }

    private static func isArabicLetter(_ scalar: Unicode.Scalar) -> Bool {
        (0x0620...0x08FF).contains(scalar.value) && scalar.properties.isAlphabetic
    }

    /// Arabic letters that never join with the letter after them.
    private static let joinsOnlyToTheRight: Set<UInt32> = Set(
        [
            0x0622...0x0625, 0x0627...0x0627, 0x0629...0x0629, 0x062F...0x0632, 0x0648...0x0648,
            0x0671...0x0673, 0x0675...0x0677, 0x0688...0x0699, 0x06C0...0x06C0, 0x06C3...0x06CB,
            0x06CD...0x06CD, 0x06CF...0x06CF, 0x06D2...0x06D3, 0x06D5...0x06D5, 0x06EE...0x06EF,
        ].joined())

    private static func isRightToLeft(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x0590...0x08FF, 0xFB1D...0xFDFF, 0xFE70...0xFEFC, 0x10800...0x10FFF,
            0x1E800...0x1EFFF:
            scalar.properties.isAlphabetic
        default: false
        }
    }
}
