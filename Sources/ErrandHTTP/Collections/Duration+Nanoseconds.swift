extension Duration {
    /// The number of whole nanoseconds, within the range of `Int64`.
    package var wholeNanoseconds: Int64 {
        let (seconds, attoseconds) = components
        let (product, overflows) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        let (sum, exceeds) = product.addingReportingOverflow(attoseconds / 1_000_000_000)
        guard overflows || exceeds else { return sum }
        return seconds < 0 ? .min : .max
    }
}
