// Dumps end up in logs, so they contain no credentials, bodies or queries.

extension RequestError: CustomReflectable {
    /// The parts of the error, with ``response`` and a ``RequestError`` in ``underlying`` in their
    /// redacted forms.
    ///
    /// Of other underlying errors and of ``body`` only the type is shown, since they may contain
    /// secrets.
    public var customMirror: Mirror {
        var children: [(label: String?, value: Any)] = [("description", description)]
        if let response { children.append(("response", response)) }
        if let underlying {
            let isSafe = underlying is RequestError
            children.append(
                ("underlying", isSafe ? underlying : String(describing: type(of: underlying))))
        }
        if !previousErrors.isEmpty { children.append(("previousErrors", previousErrors)) }
        if let body { children.append(("body", String(describing: type(of: body)))) }
        if let timings { children.append(("timings", timings)) }
        return Mirror(self, children: children, displayStyle: .struct)
    }
}
