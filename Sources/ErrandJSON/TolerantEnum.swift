/// An enumeration of a service that may get further cases.
///
///     enum State: String, Codable, TolerantEnum { case open, closed, unknown }
///
/// A raw value without a case decodes as ``unknown``; another type of value, and a missing one, are errors as for every
/// enumeration. Encoding writes the raw value of the case, so ``unknown`` as its own.
///
/// ## Topics
///
/// ### Decoding raw values that are numbers or texts
///
/// - ``init(from:)-2jtbs``
/// - ``init(from:)-tf8j``
public protocol TolerantEnum: RawRepresentable, Decodable {
    /// The value for a raw value without a case.
    static var unknown: Self { get }
}

extension TolerantEnum where RawValue == String {
    /// Reads a raw value.
    public init(from decoder: any Decoder) throws {
        self = Self(rawValue: try decoder.singleValueContainer().decode(String.self)) ?? .unknown
    }
}

extension TolerantEnum where RawValue == Int {
    /// Reads a raw value.
    public init(from decoder: any Decoder) throws {
        self = Self(rawValue: try decoder.singleValueContainer().decode(Int.self)) ?? .unknown
    }
}
