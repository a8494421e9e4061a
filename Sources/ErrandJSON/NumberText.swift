// Performance annotations: decision 17.

/// Conversion from the text of a validated number to integers and floating point.
enum NumberText {
    typealias Text = UnsafeBufferPointer<UInt8>

    // MARK: - Integers

    /// Parses a number without fraction and exponent; nil if it does not fit.
    ///
    /// Seven bytes after the text must be readable.
    @inline(__always)
    static func integer<T: FixedWidthInteger>(_ text: Text, as _: T.Type) -> T? {
        guard let base = text.baseAddress, text.count > 0 else { return nil }
        let isNegative = base[0] == UInt8(ascii: "-")
        var next = base + (isNegative ? 1 : 0)
        var rest = text.count &- (isNegative ? 1 : 0)
        guard rest <= 18 else { return longInteger(text, as: T.self) }
        // First the digits that do not fill a group of eight, padded with leading zeros.
        let odd = rest & 7
        let shift = UInt64(truncatingIfNeeded: odd &* 8)
        var magnitude: UInt64 = 0
        if odd > 0 {
            let digits = Scan.word(next) &<< (64 &- shift)
            magnitude = eightDigits(digits | 0x3030_3030_3030_3030 &>> shift)
            next += odd
            rest &-= odd
        }
        while rest > 0 {
            magnitude = magnitude &* 100_000_000 &+ eightDigits(Scan.word(next))
            next += 8
            rest &-= 8
        }
        let value = Int64(truncatingIfNeeded: magnitude)
        return T(exactly: isNegative ? 0 &- value : value)
    }

    /// The value of eight ASCII digits, the first one in the lowest byte.
    static func eightDigits(_ digits: UInt64) -> UInt64 {
        // Combines pairs, then groups of four, then all eight, each multiplied by its power of ten.
        var lanes = digits &- 0x3030_3030_3030_3030
        lanes = lanes &* 10 &+ lanes >> 8
        let low = (lanes & 0x0000_00FF_0000_00FF) &* 0x000F_4240_0000_0064
        let high = (lanes >> 16 & 0x0000_00FF_0000_00FF) &* 0x0000_2710_0000_0001
        return (low &+ high) >> 32
    }

    /// Works like `integer`, for numbers of any length.
    private static func longInteger<T: FixedWidthInteger>(_ text: Text, as _: T.Type) -> T? {
        var value: T = 0
        let isNegative = text.first == UInt8(ascii: "-")
        for byte in text.dropFirst(isNegative ? 1 : 0) {
            guard let digit = T(exactly: byte &- 0x30) else { return nil }
            let (tens, overflows) = value.multipliedReportingOverflow(by: 10)
            let (sum, overflowsToo) =
                isNegative
                ? tens.subtractingReportingOverflow(digit) : tens.addingReportingOverflow(digit)
            if overflows || overflowsToo { return nil }
            value = sum
        }
        return value
    }

    /// Parses a number with a fraction or an exponent; nil if it is not an integer or does not fit.
    static func integral<T: FixedWidthInteger>(_ text: Text, as _: T.Type) -> T? {
        let number = ExactNumber(text)
        // No supported integer type has 64 digits, so larger exponents cannot fit.
        guard number.exponent >= 0, number.exponent < 64 else { return nil }
        var expanded = number.isNegative ? [UInt8(ascii: "-")] : []
        expanded += number.digits
        expanded += Array(repeating: UInt8(ascii: "0"), count: number.exponent)
        if number.digits.isEmpty { return 0 }
        return expanded.withUnsafeBufferPointer { longInteger($0, as: T.self) }
    }

    // MARK: - Floating point

    /// The nearest `Double`; nil if the number is beyond its range.
    @inline(__always)
    static func double(_ text: Text) -> Double? {
        let number = ScannedNumber(text)
        if let value = number.double { return value }
        return slowDouble(text)
    }

    /// The nearest `Float`; nil if the number is beyond its range.
    static func float(_ text: Text) -> Float? {
        guard let double = double(text) else { return nil }
        let float = Float(double)
        // Double rounding is wrong only if the `Double` is halfway between two floats.
        let isMiddle = double.bitPattern & 0x1FFF_FFFF == 0x1000_0000
        if isMiddle || float.isSubnormal || float.isInfinite {
            let exact = Float(String(decoding: text, as: UTF8.self)) ?? float
            return exact.isInfinite ? nil : exact
        }
        return float
    }

    /// Uses the standard library's conversion.
    ///
    /// Few numbers need it, for example halfway cases with hundreds of digits.
    private static func slowDouble(_ text: Text) -> Double? {
        guard let value = Double(String(decoding: text, as: UTF8.self)), value.isFinite
        else { return nil }
        return value
    }
}

/// A number in a normalized form: sign, all digits and power of ten.
struct ExactNumber: Equatable {
    var isNegative = false
    /// ASCII digits without leading and trailing zeros; empty for zero.
    var digits: [UInt8] = []
    /// The power of ten of the last digit.
    var exponent = 0

    init(_ text: UnsafeBufferPointer<UInt8>) {
        var fraction = 0
        var isFraction = false
        var power = 0
        var rest = text[...]
        if rest.first == UInt8(ascii: "-") {
            isNegative = true
            rest = rest.dropFirst()
        }
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: ".") {
                isFraction = true
            } else if byte | 0x20 == UInt8(ascii: "e") {
                power = ExactNumber.power(rest)
                break
            } else {
                fraction += isFraction ? 1 : 0
                if byte != UInt8(ascii: "0") || !digits.isEmpty { digits.append(byte) }
            }
        }
        guard !digits.isEmpty else {
            isNegative = false
            return
        }
        exponent = power - fraction
        while digits.last == UInt8(ascii: "0") {
            digits.removeLast()
            exponent += 1
        }
    }

    /// The exponent, limited to a magnitude of 10^17.
    private static func power(_ text: Slice<UnsafeBufferPointer<UInt8>>) -> Int {
        var value = 0
        for byte in text where Scan.isDigit(byte) {
            value = min(value * 10 + Int(byte - 0x30), 100_000_000_000_000_000)
        }
        return text.first == UInt8(ascii: "-") ? -value : value
    }
}
