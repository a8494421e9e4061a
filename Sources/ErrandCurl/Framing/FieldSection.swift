import ErrandHTTP
import HTTPTypes

/// The decoded fields of a header block: the head of a response, or its trailers.
///
/// The rules of RFC 9113 §8.2 and §8.3 are checked while the fields arrive. The first violation is
/// kept, and the fields after it are left out.
struct FieldSection: Sendable {
    /// Status, fields and framing; the status is 0 if there is none, as in trailers.
    private(set) var head = HeadParser.Head(status: .init(code: 0), version: .http2)
    /// The first rule that the section violates.
    private(set) var fault: HeadParseError?
    /// Whether the section exceeds the limit of the decoder.
    private(set) var isTooLarge = false
    /// The decoded size.
    private(set) var size = 0
    private var hasFields = false

    /// Whether the section has no pseudo-header field.
    var hasStatus: Bool { head.status.code != 0 }

    /// Whether no cache keeps the section.
    var containsSecrets: Bool { head.containsSecrets }

    /// Whether there are as many fields as a message may have.
    var isFull: Bool { head.fields.count >= HeadParser.maximumFields }

    /// Adds the next field.
    mutating func add(_ entry: HeaderEntry) {
        guard fault == nil, !isFull else { return }
        if entry.meaning != .status { hasFields = true }
        switch entry.meaning {
        case .ordinary: head.fields.append(entry.field)
        case .status: addStatus(entry.status)
        case .secret:
            head.containsSecrets = true
            head.fields.append(entry.field)
        case .contentLength: addFraming(entry.field, .contentLength)
        case .contentEncoding: addFraming(entry.field, .contentEncoding)
        case .te:
            guard entry.field.value.lowercasedASCII() == "trailers" else {
                return fault = .connectionSpecific
            }
            head.fields.append(entry.field)
        case .pseudo: fault = HeadParseError("It has a pseudo-header field other than :status.")
        case .connectionSpecific: fault = .connectionSpecific
        case .malformed(let kind): fault = Self.error(kind)
        }
    }

    /// Notes the end of the block.
    mutating func end(size: Int, isTooLarge: Bool) {
        (self.size, self.isTooLarge) = (size, isTooLarge)
        head.size = size
    }

    private mutating func addStatus(_ status: UInt16) {
        guard !hasStatus else {
            return fault = HeadParseError("It has more than one :status field.")
        }
        guard !hasFields else {
            return fault = HeadParseError("A pseudo-header field follows another field.")
        }
        head.status = status == 200 ? .ok : .init(code: Int(status))
        head.fields.reserveCapacity(12)
    }

    private mutating func addFraming(_ field: HTTPField, _ meaning: FieldCache.Meaning) {
        // Trailers do not change the framing of the body (RFC 9110 §6.5.1).
        guard hasStatus || meaning == .contentEncoding else { return }
        do throws(HeadParseError) {
            if hasStatus { try head.framing.add(field, meaning: meaning) }
            head.fields.append(field)
        } catch {
            fault = error
        }
    }

    private static func error(_ fault: HeaderName.Fault) -> HeadParseError {
        switch fault {
        case .name: HeadParseError("A field name is empty or contains invalid characters.")
        case .upperCase: HeadParseError("A field name contains upper-case letters.")
        case .value:
            HeadParseError("A field value contains CR, LF or NUL, or begins or ends with a blank.")
        case .status: HeadParseError("The status is not a number of three digits.")
        }
    }
}

extension HeadParseError {
    fileprivate static var connectionSpecific: HeadParseError {
        HeadParseError("It has a field that is specific to HTTP/1.1 connections.")
    }
}
