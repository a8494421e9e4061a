extension JSONShape {
    /// Checks a value.
    ///
    /// - Throws: The first fault, in the order of the shape.
    public func validate(_ json: JSON) throws(JSONShapeError) {
        if let fault = firstFault(in: json) { throw JSONShapeError(fault) }
    }

    /// The first place at which a value differs, in the order of the shape; nil if it matches.
    public func firstFault(in json: JSON) -> JSONShapeFault? {
        if matches(json) { return nil }
        return faults(in: json, limit: 1).first
    }

    /// All places at which a value differs, at most `limit` of them.
    public func faults(in json: JSON, limit: Int = .max) -> [JSONShapeFault] {
        guard limit > 0 else { return [] }
        var search = ShapeFaultSearch(tape: json.tape, limit: limit)
        search.visit(self, json.index, .top, isStrict: false)
        return search.faults
    }

    /// Whether a value has this shape.
    public func matches(_ json: JSON) -> Bool {
        ShapeMatch(tape: json.tape).accepts(self, json.index, .top, isStrict: false)
    }
}

/// Where a value stands, which decides about `null`.
enum ShapePlace {
    case top, key, item
}

extension JSONShape {
    /// Whether `null` passes without a look at the rule; nil if the rule decides.
    @inline(__always)
    func decidesNull(_ place: ShapePlace, isStrict: Bool) -> Bool? {
        switch nulls {
        case .accepted: return true
        case .refused: return false
        case .byPlace: return isOptional || (place == .key && !isStrict) ? true : nil
        }
    }
}
