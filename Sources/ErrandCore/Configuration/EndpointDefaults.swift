extension Configuration {
    /// A description with what the configuration says where the endpoint says nothing.
    ///
    /// Most configurations say nothing: then it is the very same, because a copy costs.
    func completing(_ description: RequestDescription) -> RequestDescription {
        // A download's bytes are its own affair, unless the endpoint says what they must be.
        let typesCount =
            acceptableContentTypes != .automatic && description.acceptableContentTypes == .automatic
            && description.download == nil
        let decoderCounts = errorDecoder != nil && description.errorDecoder == nil
        let encoderCounts = bodyEncoder != nil && description.bodyEncoder == nil
        guard typesCount || decoderCounts || encoderCounts || !businessValidators.isEmpty else {
            return description
        }
        var description = description
        if typesCount { description.acceptableContentTypes = acceptableContentTypes }
        if decoderCounts { description.errorDecoder = errorDecoder }
        // Uploads from files and streams go out as they are; the endpoint's own encoder would refuse them.
        if encoderCounts, description.body?.isInMemory != false {
            description.bodyEncoder = bodyEncoder
        }
        description.businessValidators = businessValidators + description.businessValidators
        return description
    }
}
