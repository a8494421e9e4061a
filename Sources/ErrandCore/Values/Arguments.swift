// placeholder until the values branch lands
public struct Arguments: Sendable, ExpressibleByDictionaryLiteral {
    public init(dictionaryLiteral elements: (String, (any ArgumentValue)?)...) {}
}
public protocol ArgumentValue: Sendable {}
