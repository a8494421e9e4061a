extension Configuration {
    /// Puts what the configuration says where the endpoint says nothing.
    ///
    /// In place, because a copy costs, and most configurations say nothing.
    func complete(_ description: inout RequestDescription) {
        // A download's bytes are its own affair, unless the endpoint says what they must be.
        let typesCount =
            acceptableContentTypes != .automatic && description.acceptableContentTypes == .automatic
            && description.download == nil
        let decoderCounts = errorDecoder != nil && description.errorDecoder == nil
        let encoderCounts = bodyEncoder != nil && description.bodyEncoder == nil
        if typesCount { description.acceptableContentTypes = acceptableContentTypes }
        if decoderCounts { description.errorDecoder = errorDecoder }
        // Uploads from files and streams go out as they are; the endpoint's own encoder would refuse them.
        if encoderCounts, description.body?.isInMemory != false {
            description.bodyEncoder = bodyEncoder
        }
        if !businessValidators.isEmpty {
            description.businessValidators = businessValidators + description.businessValidators
        }
    }
}
