extension JSONShape {
    /// Anything, `null` included.
    public static let any = JSONShape(.any)
    /// Only `null`.
    public static let null = JSONShape(.null)
    /// `true` or `false`.
    public static let bool = JSONShape(.bool)
    /// A string.
    public static let string = JSONShape(.string)
    /// A number; `true` and `false` pass too, as they did in older validators.
    public static let number = JSONShape(.number)
    /// A number that is an integer, however it is written and however large it is.
    public static let int = JSONShape(.int)
    /// A number within the range of `Double`.
    public static let double = JSONShape(.double)
    /// Any array.
    public static let array = JSONShape(.anyArray)
    /// Any object.
    public static let object = JSONShape(.anyObject)

    // MARK: - Containers

    /// An array whose items all have one shape.
    public static func array(of item: JSONShape) -> JSONShape { JSONShape(.array(Box(item))) }

    /// An array with exactly these items, each with its own shape.
    public static func tuple(_ items: [JSONShape]) -> JSONShape { JSONShape(.tuple(items)) }

    /// An object with any keys, whose values all have one shape.
    public static func dictionary(of value: JSONShape) -> JSONShape {
        JSONShape(.dictionary(Box(value)))
    }

    /// An object with these keys and no others.
    ///
    /// - Parameter shape: A dictionary literal; anything else is a mistake that `problem` tells.
    public static func closed(_ shape: JSONShape) -> JSONShape {
        var closed = shape
        guard case .object(let members) = shape.rule else {
            closed.rule = .broken("`.closed` takes a dictionary of keys and shapes.")
            return closed
        }
        let pairs = zip(members.keys, members.shapes).map { (key: $0, shape: $1) }
        closed.rule = .object(Members(pairs, isClosed: true))
        return closed
    }

    /// Any one of several shapes.
    public static func oneOf(_ shapes: [JSONShape]) -> JSONShape { JSONShape(.oneOf(shapes)) }

    // MARK: - Missing and null

    /// A key that may be missing or `null`; otherwise its value has this shape.
    public static func optional(_ shape: JSONShape) -> JSONShape {
        var optional = shape
        optional.isOptional = true
        return optional
    }

    /// `null`, or a value with this shape, anywhere and in strict shapes too.
    public static func nullable(_ shape: JSONShape) -> JSONShape {
        var nullable = shape
        nullable.nulls = .accepted
        return nullable
    }

    /// A value with this shape, and never `null`, not even under a key.
    public static func nonNull(_ shape: JSONShape) -> JSONShape {
        var nonNull = shape
        nonNull.nulls = .refused
        return nonNull
    }

    /// The same shape, in which `null` passes only where a shape allows it.
    public static func strict(_ shape: JSONShape) -> JSONShape { shape.strict }

    /// This shape, in which `null` passes only where a shape allows it.
    public var strict: JSONShape {
        var strict = self
        strict.isStrict = true
        return strict
    }

    /// This shape, with which an answer without a body fails.
    public var requiringBody: JSONShape {
        var shape = self
        shape.requiresBody = true
        return shape
    }

    // MARK: - Ranges

    /// An integer between two others, both included.
    public static func range(_ bounds: ClosedRange<Int>) -> JSONShape {
        JSONShape(
            .integers(.init(lower: Int64(bounds.lowerBound), upper: Int64(bounds.upperBound))))
    }

    /// An integer between two others, the upper one excluded.
    public static func range(_ bounds: Range<Int>) -> JSONShape {
        JSONShape(
            .integers(
                .init(
                    lower: Int64(bounds.lowerBound), upper: Int64(bounds.upperBound),
                    excludesUpper: true)))
    }

    /// An integer not below another.
    public static func range(_ bounds: PartialRangeFrom<Int>) -> JSONShape {
        JSONShape(.integers(.init(lower: Int64(bounds.lowerBound), upper: nil)))
    }

    /// An integer not above another.
    public static func range(_ bounds: PartialRangeThrough<Int>) -> JSONShape {
        JSONShape(.integers(.init(lower: nil, upper: Int64(bounds.upperBound))))
    }

    /// A number between two others, both included.
    public static func range(_ bounds: ClosedRange<Double>) -> JSONShape {
        JSONShape(.numbers(.init(lower: bounds.lowerBound, upper: bounds.upperBound)))
    }

    /// A number between two others, the upper one excluded.
    public static func range(_ bounds: Range<Double>) -> JSONShape {
        JSONShape(
            .numbers(
                .init(lower: bounds.lowerBound, upper: bounds.upperBound, excludesUpper: true)))
    }

    /// A number not below another.
    public static func range(_ bounds: PartialRangeFrom<Double>) -> JSONShape {
        JSONShape(.numbers(.init(lower: bounds.lowerBound, upper: nil)))
    }

    /// A number not above another.
    public static func range(_ bounds: PartialRangeThrough<Double>) -> JSONShape {
        JSONShape(.numbers(.init(lower: nil, upper: bounds.upperBound)))
    }

    // MARK: - Strings and values

    /// A string whose number of characters lies in a range.
    public static func length(_ bounds: ClosedRange<Int>) -> JSONShape {
        JSONShape(.length(.init(lower: Int64(bounds.lowerBound), upper: Int64(bounds.upperBound))))
    }

    /// A string whose number of characters is not below a bound.
    public static func length(_ bounds: PartialRangeFrom<Int>) -> JSONShape {
        JSONShape(.length(.init(lower: Int64(bounds.lowerBound), upper: nil)))
    }

    /// A string in which a regular expression is found; anchor it with `^` and `$` to match all.
    ///
    /// It is compiled here, once; keep a shape with patterns in a `static let`. An expression
    /// that does not compile is a mistake that `problem` tells.
    public static func pattern(_ expression: String) -> JSONShape {
        guard let pattern = ShapePattern(expression) else {
            return JSONShape(.broken("`\(expression)` is not a regular expression."))
        }
        return JSONShape(.pattern(pattern))
    }

    /// One of several values, compared as `JSON` is.
    public static func enumeration(_ values: [JSON]) -> JSONShape {
        JSONShape(.enumeration(values))
    }

    /// A value that passes a test of your own; `name` stands in faults as what was expected.
    public static func custom(
        _ name: String, _ test: @escaping @Sendable (JSON) -> Bool
    ) -> JSONShape {
        JSONShape(.custom(name: name, test: test))
    }
}
