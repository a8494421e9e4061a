extension POSIXError {
    /// The error with a number of the system, such as `errno`; `EIO` for a number without a case.
    package init(number: Int32) { self.init(POSIXErrorCode(rawValue: number) ?? .EIO) }
}
