package import HTTPTypes

// Lookups that compare lengths before texts: most names differ in length, and a comparison of strings costs more.
// They are inlinable, so that other modules need no call for each field (decision 17).
extension HTTPFields {
    /// The first field with a name.
    @inlinable
    package func first(named name: HTTPField.Name) -> HTTPField? {
        firstIndex(named: name).map { self[$0] }
    }

    /// Whether there is a field with a name.
    @inlinable
    package func has(_ name: HTTPField.Name) -> Bool { firstIndex(named: name) != nil }

    /// The value of a name, as the subscript returns it.
    ///
    /// A value that is not repeated is not copied.
    @inlinable
    package func text(of name: HTTPField.Name) -> String? {
        guard let index = firstIndex(named: name) else { return nil }
        let isRepeated = firstIndex(named: name, from: index + 1) != nil
        return isRepeated ? self[name] : self[index].value
    }

    @inlinable
    func firstIndex(named name: HTTPField.Name, from start: Int = 0) -> Int? {
        let wanted = name.canonicalName
        let length = wanted.utf8.count
        var index = start
        while index < endIndex {
            let canonicalName = self[index].name.canonicalName
            if canonicalName.utf8.count == length, canonicalName == wanted { return index }
            index += 1
        }
        return nil
    }
}
