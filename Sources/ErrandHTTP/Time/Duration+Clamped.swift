extension Duration {
    /// The duration limited to 0 seconds to 136 years, so that arithmetic with it cannot overflow.
    ///
    /// `.seconds(Int64.max)` is a common way to write "no limit", and Swift traps when it is doubled.
    package var clamped: Duration { min(max(self, .zero), .seconds(Int64(1) << 32)) }
}
