extension POSIXError {
    /// The error with a number of the system; `EIO` for a number without a case.
    package init(number: Int32) { self.init(POSIXErrorCode(rawValue: number) ?? .EIO) }

    /// The error of the last call of the system, from `errno`.
    package static var last: POSIXError { POSIXError(number: errno) }
}
