import Foundation

/// Converts internationalized host names to ASCII (RFC 5891).
///
/// The mapping is compatibility composition and lower case. For common names it agrees with UTS #46
/// non-transitional processing (ß is kept). ``HostLabelRules`` covers the disallowed characters that
/// general categories can identify.
package enum HostName {
    /// The host name in ASCII; non-ASCII labels become `xn--…`.
    ///
    /// - Throws: ``RequestError/Code/invalidURL``.
    package static func ascii(_ bytes: [UInt8]) throws(RequestError) -> String {
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw URIParser.invalid("The URL's host is not valid UTF-8.")
        }
        let mapped = String(
            text.precomposedStringWithCompatibilityMapping.lowercased()
                .unicodeScalars.filter { !ignored.contains($0) }
        ).precomposedStringWithCanonicalMapping
        var labels: [String] = []
        for label in mapped.unicodeScalars.split(
            omittingEmptySubsequences: false, whereSeparator: separators.contains)
        {
            labels.append(try ascii(label: String(label)))
        }
        let name = labels.joined(separator: ".")
        guard name.utf8.count <= 253 else {
            throw URIParser.invalid("The URL's host is longer than 253 bytes, the limit of DNS.")
        }
        return name
    }

    private static func ascii(label: String) throws(RequestError) -> String {
        var result = label
        if !label.utf8.allSatisfy({ $0 < 0x80 }) {
            if let problem = HostLabelRules.problem(in: label) {
                throw URIParser.invalid("The URL's host contains \(problem). Check its spelling.")
            }
            guard let encoded = Punycode.encode(label) else {
                throw URIParser.invalid(
                    "A label of the URL's host is longer than 63 bytes, the limit of DNS.")
            }
            result = "xn--" + encoded
        }
        guard result.utf8.allSatisfy(URIBytes.host.contains) else {
            throw URIParser.invalid(
                "The URL's host contains a character that a host name must not contain, such as a space, "
                    + "a backslash or a bracket.")
        }
        guard result.utf8.count <= 63 else {
            throw URIParser.invalid(
                "A label of the URL's host is longer than 63 bytes, the limit of DNS.")
        }
        return result
    }

    /// The full stop and the ideographic full stops (UTS #46 §4).
    private static let separators: Set<Unicode.Scalar> = [".", "\u{3002}", "\u{FF0E}", "\u{FF61}"]
    /// Characters that UTS #46 maps to nothing: soft hyphen, zero-width characters, variation selectors.
    private static let ignored = Set<Unicode.Scalar>(
        ["\u{AD}", "\u{34F}", "\u{200B}", "\u{2060}", "\u{2064}", "\u{FEFF}"]
            + (0xFE00...0xFE0F).compactMap(Unicode.Scalar.init(_:) as (UInt32) -> Unicode.Scalar?)
            + (0x180B...0x180D).compactMap(Unicode.Scalar.init(_:) as (UInt32) -> Unicode.Scalar?))
}

/// The Punycode encoding with the parameters of IDNA (RFC 3492 §5).
package enum Punycode {
    private static let base: UInt32 = 36
    private static let tMin: UInt32 = 1
    private static let tMax: UInt32 = 26

    /// The encoded text without the prefix `xn--`; `nil` if it is too long for a host label.
    package static func encode(_ text: String) -> String? {
        let scalars = text.unicodeScalars.map(\.value)
        // A label has at most 63 bytes, and every scalar takes at least one: this bounds the arithmetic.
        guard scalars.count <= 63 else { return nil }
        var output = scalars.filter { $0 < 0x80 }.map { UInt8($0) }
        let basicCount = UInt32(output.count)
        var handled = basicCount
        if basicCount > 0 { output.append(UInt8(ascii: "-")) }
        var code: UInt32 = 128
        var delta: UInt32 = 0
        var bias: UInt32 = 72
        while handled < UInt32(scalars.count) {
            guard let next = scalars.lazy.filter({ $0 >= code }).min() else { return nil }
            delta += (next - code) * (handled + 1)
            code = next
            for scalar in scalars {
                if scalar < code { delta += 1 }
                guard scalar == code else { continue }
                append(delta, bias: bias, to: &output)
                bias = adapted(
                    delta, isFirst: handled == basicCount, count: handled + 1)
                delta = 0
                handled += 1
            }
            delta += 1
            code += 1
        }
        return String(decoding: output, as: UTF8.self)
    }

    /// Writes one delta as a variable-length integer (RFC 3492 §6.3).
    private static func append(_ delta: UInt32, bias: UInt32, to output: inout [UInt8]) {
        var rest = delta
        var position = base
        while true {
            let threshold =
                position <= bias ? tMin : (position >= bias + tMax ? tMax : position - bias)
            guard rest >= threshold else { break }
            output.append(digit(threshold + (rest - threshold) % (base - threshold)))
            rest = (rest - threshold) / (base - threshold)
            position += base
        }
        output.append(digit(rest))
    }

    private static func adapted(_ delta: UInt32, isFirst: Bool, count: UInt32) -> UInt32 {
        var delta = isFirst ? delta / 700 : delta / 2
        delta += delta / count
        var divisions: UInt32 = 0
        while delta > ((base - tMin) * tMax) / 2 {
            delta /= base - tMin
            divisions += base
        }
        return divisions + (base - tMin + 1) * delta / (delta + 38)
    }

    private static func digit(_ value: UInt32) -> UInt8 {
        UInt8(truncatingIfNeeded: value < 26 ? value + 97 : value + 22)
    }
}
