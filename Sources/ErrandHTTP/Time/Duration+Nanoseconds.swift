extension Duration {
    /// The number of whole nanoseconds, within the range of `Int64`.
    ///
    /// Needs one division; `components` needs several multiplications and divisions.
    package var wholeNanoseconds: Int64 { Int64(clamping: attoseconds / 1_000_000_000) }
}
