extension JSONShape {
    /// Any value, including `null`.
    public static let any = JSONShape(.any)
    /// Only `null`.
    public static let null = JSONShape(.null)
    /// `true` or `false`.
    public static let bool = JSONShape(.bool)
    /// A string.
    public static let string = JSONShape(.string)
    /// A number, or `true` or `false`, which pass for compatibility with `NSNumber` validators.
    public static let number = JSONShape(.number)
    /// An integer of any size and in any notation, such as `3`, `3.0` or `3e0`.
    public static let int = JSONShape(.int)
    /// A number within the range of `Double`.
    public static let double = JSONShape(.double)
    /// Any array.
    public static let array = JSONShape(.anyArray)
    /// Any object.
    public static let object = JSONShape(.anyObject)

    // MARK: - Containers

    /// An array in which every item has the given shape.
    public static func array(of item: JSONShape) -> JSONShape { JSONShape(.array(Box(item))) }

    /// An array with exactly these items, each with its own shape.
    public static func tuple(_ items: [JSONShape]) -> JSONShape { JSONShape(.tuple(items)) }

    /// An object with any keys in which every value has the given shape.
    public static func dictionary(of value: JSONShape) -> JSONShape {
        JSONShape(.dictionary(Box(value)))
    }

    /// An object with these keys and no others.
    ///
    /// - Parameter shape: A dictionary literal; `problem` reports any other shape.
    public static func closed(_ shape: JSONShape) -> JSONShape {
        var closed = shape
        guard case .object(let members) = shape.rule else {
            closed.rule = .broken("`.closed` requires a dictionary of keys and shapes.")
            return closed
        }
        let pairs = zip(members.keys, members.shapes).map { (key: $0, shape: $1) }
        closed.rule = .object(Members(pairs, isClosed: true))
        return closed
    }

    /// A value that has at least one of several shapes.
    public static func oneOf(_ shapes: [JSONShape]) -> JSONShape { JSONShape(.oneOf(shapes)) }

    /// A value that has each of several shapes, for example a length and a pattern.
    public static func allOf(_ shapes: [JSONShape]) -> JSONShape { JSONShape(.allOf(shapes)) }

    // MARK: - Missing and null

    /// A key that may be missing or `null`; otherwise its value must have this shape.
    public static func optional(_ shape: JSONShape) -> JSONShape {
        var optional = shape
        optional.isOptional = true
        return optional
    }

    /// `null`, or a value with this shape; also allowed inside `strict` shapes.
    public static func nullable(_ shape: JSONShape) -> JSONShape {
        var nullable = shape
        nullable.nulls = .accepted
        return nullable
    }

    /// A value with this shape; `null` fails, even as the value of a key.
    public static func nonNull(_ shape: JSONShape) -> JSONShape {
        var nonNull = shape
        nonNull.nulls = .refused
        return nonNull
    }

    /// The given shape in strict mode: `null` passes only where a shape allows it explicitly.
    public static func strict(_ shape: JSONShape) -> JSONShape { shape.strict }

    /// This shape in strict mode: `null` passes only where a shape allows it explicitly.
    public var strict: JSONShape {
        var strict = self
        strict.isStrict = true
        return strict
    }

    /// This shape; with it, a response without a body fails validation.
    public var requiringBody: JSONShape {
        var shape = self
        shape.requiresBody = true
        return shape
    }

    // MARK: - Ranges

    /// An integer within a range that includes both bounds.
    public static func range(_ bounds: ClosedRange<Int>) -> JSONShape {
        JSONShape(
            .integers(.init(lower: Int64(bounds.lowerBound), upper: Int64(bounds.upperBound))))
    }

    /// An integer within a range that excludes the upper bound.
    public static func range(_ bounds: Range<Int>) -> JSONShape {
        JSONShape(
            .integers(
                .init(
                    lower: Int64(bounds.lowerBound), upper: Int64(bounds.upperBound),
                    excludesUpper: true)))
    }

    /// An integer at or above the lower bound.
    public static func range(_ bounds: PartialRangeFrom<Int>) -> JSONShape {
        JSONShape(.integers(.init(lower: Int64(bounds.lowerBound), upper: nil)))
    }

    /// An integer at or below the upper bound.
    public static func range(_ bounds: PartialRangeThrough<Int>) -> JSONShape {
        JSONShape(.integers(.init(lower: nil, upper: Int64(bounds.upperBound))))
    }

    /// A number within a range that includes both bounds.
    public static func range(_ bounds: ClosedRange<Double>) -> JSONShape {
        JSONShape(.numbers(.init(lower: bounds.lowerBound, upper: bounds.upperBound)))
    }

    /// A number within a range that excludes the upper bound.
    public static func range(_ bounds: Range<Double>) -> JSONShape {
        JSONShape(
            .numbers(
                .init(lower: bounds.lowerBound, upper: bounds.upperBound, excludesUpper: true)))
    }

    /// A number at or above the lower bound.
    public static func range(_ bounds: PartialRangeFrom<Double>) -> JSONShape {
        JSONShape(.numbers(.init(lower: bounds.lowerBound, upper: nil)))
    }

    /// A number at or below the upper bound.
    public static func range(_ bounds: PartialRangeThrough<Double>) -> JSONShape {
        JSONShape(.numbers(.init(lower: nil, upper: bounds.upperBound)))
    }

    // MARK: - Strings and values

    /// A string whose number of characters is within a range.
    public static func length(_ bounds: ClosedRange<Int>) -> JSONShape {
        JSONShape(.length(.init(lower: Int64(bounds.lowerBound), upper: Int64(bounds.upperBound))))
    }

    /// A string whose number of characters is at or above the lower bound.
    public static func length(_ bounds: PartialRangeFrom<Int>) -> JSONShape {
        JSONShape(.length(.init(lower: Int64(bounds.lowerBound), upper: nil)))
    }

    /// A string that contains a match of a regular expression.
    ///
    /// Anchor the expression with `^` and `$` to match the whole string. It is compiled once, when
    /// the shape is created; keep a shape with patterns in a `static let`. `problem` reports an
    /// expression that does not compile.
    ///
    /// A string of more than 4096 bytes does not match, because a server could otherwise choose the
    /// time of the search. Avoid nested repetitions such as `(a+)+`, whose time grows exponentially.
    public static func pattern(_ expression: String) -> JSONShape {
        guard let pattern = ShapePattern(expression) else {
            return JSONShape(.broken("`\(expression)` is not a valid regular expression."))
        }
        return JSONShape(.pattern(pattern))
    }

    /// One of several values, compared with `==` of `JSON`.
    public static func enumeration(_ values: [JSON]) -> JSONShape {
        JSONShape(.enumeration(values))
    }

    /// A value that passes a custom test; `name` appears in faults as the expected value.
    public static func custom(
        _ name: String, _ test: @escaping @Sendable (JSON) -> Bool
    ) -> JSONShape {
        JSONShape(.custom(name: name, test: test))
    }
}
