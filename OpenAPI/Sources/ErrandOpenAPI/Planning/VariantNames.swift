/// Gives the members that name a variant their value.
enum VariantNames {
    /// Sets the default of a member that names the variant of a union, if all unions agree about it.
    static func setDefaults(_ declarations: [Declaration]) {
        var names: [TypeKey: [String: Set<String>]] = [:]
        for declaration in declarations {
            guard case .union(let union) = declaration.body, let key = union.discriminator?.key
            else {
                continue
            }
            for item in union.cases {
                guard case .declared(let type) = item.type else { continue }
                names[type, default: [:]][key, default: []].formUnion(
                    item.values.compactMap(\.string))
            }
        }
        for declaration in declarations {
            guard let own = names[declaration.key],
                case .structure(var structure) = declaration.body
            else { continue }
            for position in structure.properties.indices {
                let property = structure.properties[position]
                guard property.value == nil, !property.isOptional,
                    property.type == .builtin("String"), let values = own[property.key],
                    values.count == 1, let value = values.first
                else { continue }
                structure.properties[position].value = Text.literal(value)
            }
            declaration.body = .structure(structure)
        }
    }
}
