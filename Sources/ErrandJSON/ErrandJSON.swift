public import Foundation
// placeholder until the JSON branch lands
public struct JSON: Sendable { public static let absent = JSON(); public init(parsing: Data) throws(JSONError) {}; init() {} }
public struct JSONError: Error {}
public struct JSONShape: Sendable {}
public struct JSONShapeFault: Sendable {}
