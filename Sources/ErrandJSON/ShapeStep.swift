/// What the quick walk needs to know about a shape inside another.
///
/// It is plain data, nothing to copy or count; the objects it points to are held by the shape it
/// was made from.
struct ShapeStep {
    /// The kinds of values that surely pass, one bit each by `Word.Kind`; also in strict shapes.
    let sure: UInt16
    let sureWhenStrict: UInt16
    let isOptional: Bool
    let isStrict: Bool
    /// Whether numbers pass that lie within the range of `Double`.
    let takesDoubles: Bool
    let members: Unmanaged<JSONShape.Members>?
    let item: Unmanaged<JSONShape.Box>?

    init(_ shape: JSONShape, place: ShapePlace) {
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

    /// The kinds of scalars that surely pass as items, if this is the shape of an array.
    @inline(__always)
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
    /// The kinds that pass whatever their value.
    fileprivate func sureKinds(_ place: ShapePlace, isStrict: Bool) -> UInt16 {
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
