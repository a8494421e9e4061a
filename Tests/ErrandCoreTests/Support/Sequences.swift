/// All sequences of a length over the elements; an element may occur several times.
func sequences<Element>(of elements: [Element], length: Int) -> [[Element]] {
    guard length > 0 else { return [[]] }
    return sequences(of: elements, length: length - 1).flatMap { sequence in
        elements.map { sequence + [$0] }
    }
}
