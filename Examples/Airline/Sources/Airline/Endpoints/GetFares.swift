import Errand

/// The fares of a day.
///
/// One of them has an invalid price, which the validator reports.
final class GetFares: BaseRequest {
    override var url: EndpointURL { "iphone/fares" }
    override var arguments: Arguments? { ["from": "KTY", "to": "DAY"] }
    override var validator: JSONShape? {
        ["flights": [["number": .string, "price": .number, "meal": .optional(.string)]]]
    }
}
