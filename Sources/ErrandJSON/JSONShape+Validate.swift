extension JSONShape {
    /// Validates a value.
    ///
    /// - Throws: `JSONShapeError` with the first fault, in the order of the shape.
    public func validate(_ json: JSON) throws(JSONShapeError) {
        if let fault = firstFault(in: json) { throw JSONShapeError(fault) }
    }

    /// Returns the first fault of a value, in the order of the shape; nil if it matches.
    public func firstFault(in json: JSON) -> JSONShape.Fault? {
        if matches(json) { return nil }
        return faults(in: json, limit: 1).first
    }

    /// Returns all faults of a value, at most `limit`.
    public func faults(in json: JSON, limit: Int = .max) -> [JSONShape.Fault] {
        guard limit > 0 else { return [] }
        var search = ShapeFaultSearch(tape: json.tape, limit: limit)
        search.visit(self, json.index, .top, isStrict: false)
        return search.faults
    }

    /// Returns whether a value has this shape.
    public func matches(_ json: JSON) -> Bool {
        ShapeMatch(tape: json.tape).accepts(self, json.index, .top, isStrict: false)
    }
}

/// The position of a value in its document, which decides whether `null` is accepted.
enum ValuePosition {
    case top, key, item
}

extension JSONShape {
    /// Whether `null` passes regardless of the rule; nil if the rule decides.
    func decidesNull(_ place: ValuePosition, isStrict: Bool) -> Bool? {
        switch nulls {
        case .accepted: return true
        case .refused: return false
        case .byRule: return nil
        case .byPlace: return isOptional || (place == .key && !isStrict) ? true : nil
        }
    }
}
