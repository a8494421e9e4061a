import ErrandSystem

extension FileAccess.Refusal {
    /// The error for a file with this path.
    ///
    /// - Parameter advice: What to do if the system has refused to open the file.
    package func error(
        _ path: String, advice: String = "Choose a path in a writable folder.",
        stage: RequestError.Stage = .transport
    ) -> RequestError {
        RequestError(
            .fileFailed, stage: stage,
            "\(path) cannot be used: \(reason). \(self.advice ?? advice)",
            underlying: POSIXError(number: code))
    }
}
