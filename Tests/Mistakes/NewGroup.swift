import Errand

final class NewGroup: BaseRequest {
    override func configure(_ request: inout RequestDescription) {
        super.configure(&request)
        request.sending = RequestDescription.SendingOptions()
    }
}

// error: 'RequestDescription.SendingOptions' initializer is inaccessible due to 'package' protection level
