extension Duration {
    /// The nearest duration that can be added, doubled and multiplied without leaving what can be counted: none below
    /// zero, none above 136 years.
    ///
    /// `.seconds(Int64.max)` is what many write for "for ever", and Swift traps where it is doubled.
    package var countable: Duration { min(max(self, .zero), .seconds(1 << 32)) }
}
