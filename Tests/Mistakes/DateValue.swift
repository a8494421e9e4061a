import Errand
import Foundation

final class DateValue: BaseRequest {
    let day = Date()
    override var url: EndpointURL { "rates/\(day)" }
}

// error: 'appendInterpolation' is unavailable: A date has many forms in a URL. Write the one of the service, such as \(date.formatted(.iso8601)).
