/// The settings of the server (RFC 9113 §6.5.2, RFC 8441 §3).
struct PeerSettings: Sendable, Hashable {
    /// The number of streams that a client opens before the settings arrive.
    static let assumedStreams = 100

    private(set) var headerTableSize = 4096
    /// The lowest ``headerTableSize`` since the last frame.
    private(set) var lowestTableSize = 4096
    private(set) var maximumStreams: Int
    private(set) var initialWindow = FlowWindow.initial
    private(set) var maximumFrame = Frame.defaultMaximum
    /// The largest size of a request's head that the server accepts; `nil` if it names none.
    private(set) var maximumHeaderList: Int?
    /// Whether the server accepts the extended CONNECT (RFC 8441 §3).
    private(set) var allowsConnectProtocol = false
    /// Whether the settings have arrived.
    private(set) var isKnown = false

    /// Creates the settings of a server that has not sent them.
    init(assumedStreams: Int = Self.assumedStreams) { maximumStreams = assumedStreams }

    /// Applies the parameters of a SETTINGS frame in their order.
    mutating func apply(_ parameters: UnsafeRawBufferPointer) throws(SessionFault) {
        if !isKnown {
            isKnown = true
            // §6.5.2: there is no limit until the server sets one.
            maximumStreams = Int(Int32.max)
        }
        lowestTableSize = headerTableSize
        for offset in stride(from: 0, to: parameters.count, by: 6) {
            let identifier = UInt16(parameters[offset]) << 8 | UInt16(parameters[offset + 1])
            try apply(identifier, Int(parameters.number(at: offset + 2)))
        }
    }

    private mutating func apply(_ identifier: UInt16, _ value: Int) throws(SessionFault) {
        switch identifier {
        case FrameWriter.Setting.headerTableSize:
            headerTableSize = value
            lowestTableSize = min(lowestTableSize, value)
        case FrameWriter.Setting.enablePush:
            // Only clients allow pushes.
            guard value == 0 else { throw Self.fault("SETTINGS_ENABLE_PUSH") }
        case FrameWriter.Setting.maximumStreams: maximumStreams = value
        case FrameWriter.Setting.initialWindow:
            guard value <= FlowWindow.largest else {
                throw Self.fault("SETTINGS_INITIAL_WINDOW_SIZE", .flowControlError)
            }
            initialWindow = value
        case FrameWriter.Setting.maximumFrame:
            guard (Frame.defaultMaximum..<(1 << 24)).contains(value) else {
                throw Self.fault("SETTINGS_MAX_FRAME_SIZE")
            }
            maximumFrame = value
        case FrameWriter.Setting.maximumHeaderList: maximumHeaderList = value
        case FrameWriter.Setting.enableConnectProtocol:
            // RFC 8441 §3: a server does not withdraw it.
            guard value <= 1, value == 1 || !allowsConnectProtocol else {
                throw Self.fault("SETTINGS_ENABLE_CONNECT_PROTOCOL")
            }
            allowsConnectProtocol = value == 1
        // Unknown settings are ignored.
        default: break
        }
    }

    private static func fault(
        _ name: String, _ code: FrameErrorCode = .protocolError
    ) -> SessionFault {
        SessionFault(code, "It sends an invalid value of \(name).")
    }
}
