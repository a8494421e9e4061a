// Performance annotations: decision 17.

/// A decimal number as 19 leading digits and a power of ten, and its nearest `Double`.
///
/// The conversion uses Clinger's fast path, then the Eisel-Lemire algorithm. The few remaining
/// numbers are converted by the standard library.
struct ScannedNumber {
    var isNegative = false
    /// The value of the first 19 significant digits.
    var mantissa: UInt64 = 0
    var exponent = 0
    /// Whether non-zero digits were dropped because `mantissa` was full.
    var isCut = false

    @inline(__always)
    init(_ text: UnsafeBufferPointer<UInt8>) {
        guard var next = text.baseAddress else { return }
        let end = next + text.count
        if next.pointee == UInt8(ascii: "-") {
            isNegative = true
            next += 1
        }
        let first = next
        next = readDigits(next, end: end)
        var digits = next - first
        if next < end, next.pointee == UInt8(ascii: ".") {
            next += 1
            let fraction = next
            next = readDigits(next, end: end)
            exponent = fraction - next
            digits &-= exponent
        }
        if digits > 19 { recount(first, end: end) }
        if next < end { exponent &+= ScannedNumber.power(next + 1, end: end) }
    }

    /// Appends digits to the mantissa, eight at a time where possible.
    private mutating func readDigits(
        _ first: UnsafePointer<UInt8>, end: UnsafePointer<UInt8>
    ) -> UnsafePointer<UInt8> {
        var next = first
        while end - next >= 8, Scan.digits(next) == 8 {
            mantissa = mantissa &* 100_000_000 &+ NumberText.eightDigits(Scan.word(next))
            next += 8
        }
        while next < end, Scan.isDigit(next.pointee) {
            mantissa = mantissa &* 10 &+ UInt64(next.pointee &- 0x30)
            next += 1
        }
        return next
    }

    /// Scans a number with more than 19 digits again; some of them may be leading zeros.
    private mutating func recount(_ first: UnsafePointer<UInt8>, end: UnsafePointer<UInt8>) {
        var next = first
        var digits = 0
        var isFraction = false
        mantissa = 0
        exponent = 0
        while next < end, next.pointee | 0x20 != UInt8(ascii: "e") {
            if next.pointee == UInt8(ascii: ".") {
                isFraction = true
            } else if digits < 19 {
                mantissa = mantissa * 10 + UInt64(next.pointee - 0x30)
                if mantissa > 0 { digits += 1 }
                if isFraction { exponent -= 1 }
            } else {
                if next.pointee != UInt8(ascii: "0") { isCut = true }
                if !isFraction { exponent += 1 }
            }
            next += 1
        }
    }

    private static func power(_ first: UnsafePointer<UInt8>, end: UnsafePointer<UInt8>) -> Int {
        var next = first
        var value = 0
        while next < end {
            if Scan.isDigit(next.pointee), value < 1_000_000_000 {
                value = value * 10 + Int(next.pointee - 0x30)
            }
            next += 1
        }
        return first.pointee == UInt8(ascii: "-") ? -value : value
    }

    /// The nearest `Double`; nil if the result is infinite or needs exact arithmetic.
    @inline(__always)
    var double: Double? {
        if !isCut, mantissa >> 53 == 0, exponent >= -22, exponent <= 22 {
            let power = ScannedNumber.exactPowers[exponent < 0 ? 0 &- exponent : exponent]
            let magnitude =
                exponent < 0 ? Double(mantissa) / power : Double(mantissa) * power
            return isNegative ? -magnitude : magnitude
        }
        return scaled
    }

    private var scaled: Double? {
        guard let magnitude = ScannedNumber.nearest(mantissa, exponent) else { return nil }
        if isCut {
            guard ScannedNumber.nearest(mantissa &+ 1, exponent) == magnitude else { return nil }
        }
        return isNegative ? -magnitude : magnitude
    }

    /// Computes `mantissa` × 10^`exponent`, correctly rounded; nil if undecided or infinite.
    private static func nearest(_ mantissa: UInt64, _ exponent: Int) -> Double? {
        if mantissa == 0 || exponent < PowersOfFive.smallest { return 0 }
        guard exponent <= PowersOfFive.largest else { return nil }
        let shift = mantissa.leadingZeroBitCount
        let normal = mantissa << UInt64(shift)
        let row = (exponent - PowersOfFive.smallest) * 2
        var (high, low) = normal.multipliedFullWidth(by: PowersOfFive.words[row])
        if high & 0x1FF == 0x1FF {
            let second = normal.multipliedFullWidth(by: PowersOfFive.words[row + 1]).high
            let (sum, carries) = low.addingReportingOverflow(second)
            low = sum
            if carries { high += 1 }
        }
        if low == .max, exponent < -27 || exponent > 55 { return nil }
        let top = Int(high >> 63)
        var bits = high >> UInt64(top + 9)
        var binary = (217_706 * exponent) >> 16 + 63 + top - shift + 1023
        if binary <= 0 {
            if 1 - binary >= 64 { return 0 }
            bits >>= UInt64(1 - binary)
            bits = (bits + bits & 1) >> 1
            return Double(bitPattern: bits)
        }
        // A halfway case: round to even.
        if low <= 1, exponent >= -4, exponent <= 23, bits & 3 == 1,
            bits << UInt64(top + 9) == high
        {
            bits &= ~1
        }
        bits = (bits + bits & 1) >> 1
        if bits >= 1 << 53 {
            bits = 1 << 52
            binary += 1
        }
        guard binary < 0x7FF else { return nil }
        return Double(bitPattern: bits & ~(1 << 52) | UInt64(binary) << 52)
    }

    /// The powers of ten that `Double` represents exactly.
    private static let exactPowers: [Double] = [
        1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
        1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
    ]
}
