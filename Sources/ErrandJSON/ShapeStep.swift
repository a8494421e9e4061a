/// A nested shape, prepared for fast validation.
///
/// It is plain data, so that copying it counts no references. The original shape keeps the objects
/// alive that it points to.
struct ShapeStep {
    /// The kinds of values that pass regardless of their content, one bit for each `Word.Kind`.
    let sure: UInt16
    let sureWhenStrict: UInt16
    let isOptional: Bool
    let isStrict: Bool
    /// Whether numbers within the range of `Double` pass.
    let takesDoubles: Bool
    let members: Unmanaged<JSONShape.Members>?
    let item: Unmanaged<JSONShape.Box>?

    init(_ shape: JSONShape, place: ValuePosition) {
        isOptional = shape.isOptional
        isStrict = shape.isStrict
        sure = shape.sureKinds(place, isStrict: shape.isStrict)
        sureWhenStrict = shape.sureKinds(place, isStrict: true)
        var members: Unmanaged<JSONShape.Members>?
        var item: Unmanaged<JSONShape.Box>?
        var takesDoubles = false
        switch shape.rule {
        case .double: takesDoubles = true
        case .object(let inner): members = Unmanaged.passUnretained(inner)
        case .array(let inner): item = Unmanaged.passUnretained(inner)
        default: break
        }
        self.takesDoubles = takesDoubles
        self.members = members
        self.item = item
    }

    /// The kinds of scalars that pass as items if this is an array shape; otherwise none.
    func sureScalars(isStrict: Bool) -> UInt64 {
        guard let item else { return 0 }
        let isStrict = isStrict || self.isStrict
        let kinds = item._withUnsafeGuaranteedRef {
            isStrict ? $0.itemStep.sureWhenStrict : $0.itemStep.sure
        }
        return UInt64(kinds) & (1 << Word.Kind.array.rawValue - 1)
    }
}

extension JSONShape {
    /// The kinds of values that pass regardless of their content.
    fileprivate func sureKinds(_ place: ValuePosition, isStrict: Bool) -> UInt16 {
        func bits(_ kinds: Word.Kind...) -> UInt16 { kinds.reduce(0) { $0 | 1 << $1.rawValue } }
        let kinds: UInt16 =
            switch rule {
            case .any:
                bits(.null, .true, .false, .integer, .real, .string, .escaped, .array, .object)
            case .null: bits(.null)
            case .bool: bits(.true, .false)
            case .string: bits(.string, .escaped)
            case .number: bits(.integer, .real, .true, .false)
            case .int: bits(.integer)
            case .anyArray: bits(.array)
            case .anyObject: bits(.object)
            default: 0
            }
        guard let decision = decidesNull(place, isStrict: isStrict) else { return kinds }
        return decision ? kinds | bits(.null) : kinds & ~bits(.null)
    }
}
