import ErrandJSON
import Foundation

/// Access to every value by subscripts, with the same order for `JSON` and dictionaries.
extension Document.Kind {
    func walk(_ json: JSON) -> Int {
        var sum = 0
        switch self {
        case .twitter:
            for status in json["statuses"] {
                for key in Walk.statusStrings { sum += status[key].string?.utf8.count ?? 0 }
                for key in Walk.statusNumbers { sum &+= status[key].int ?? 1 }
                for key in Walk.statusBools { sum += status[key].bool == true ? 1 : 0 }
                let user = status["user"]
                for key in Walk.userStrings { sum += user[key].string?.utf8.count ?? 0 }
                for key in Walk.userNumbers { sum &+= user[key].int ?? 1 }
            }
        case .canada:
            for feature in json["features"] {
                sum += feature["properties"]["name"].string?.utf8.count ?? 0
                for ring in feature["geometry"]["coordinates"] {
                    for point in ring {
                        for number in point { sum &+= Int(number.double ?? 0) }
                    }
                }
            }
        case .citm:
            for performance in json["performances"] {
                for key in Walk.performanceNumbers { sum &+= performance[key].int ?? 1 }
                sum += performance["venueCode"].string?.utf8.count ?? 0
                sum += performance["logo"].isNull ? 1 : 0
                for price in performance["prices"] {
                    for key in Walk.priceNumbers { sum &+= price[key].int ?? 1 }
                }
            }
        }
        return sum
    }

    func walk(_ any: Any) -> Int {
        var sum = 0
        let root = any as? [String: Any] ?? [:]
        func items(_ any: Any?) -> [[String: Any]] { any as? [[String: Any]] ?? [] }
        func strings(_ object: [String: Any], _ keys: [String]) {
            for key in keys { sum += (object[key] as? String)?.utf8.count ?? 0 }
        }
        func numbers(_ object: [String: Any], _ keys: [String]) {
            for key in keys { sum &+= object[key] as? Int ?? 1 }
        }
        switch self {
        case .twitter:
            for status in items(root["statuses"]) {
                strings(status, Walk.statusStrings)
                numbers(status, Walk.statusNumbers)
                for key in Walk.statusBools { sum += status[key] as? Bool == true ? 1 : 0 }
                let user = status["user"] as? [String: Any] ?? [:]
                strings(user, Walk.userStrings)
                numbers(user, Walk.userNumbers)
            }
        case .canada:
            for feature in items(root["features"]) {
                strings(feature["properties"] as? [String: Any] ?? [:], ["name"])
                let geometry = feature["geometry"] as? [String: Any] ?? [:]
                for ring in geometry["coordinates"] as? [Any] ?? [] {
                    for point in ring as? [Any] ?? [] {
                        for number in point as? [Any] ?? [] {
                            sum &+= Int(number as? Double ?? 0)
                        }
                    }
                }
            }
        case .citm:
            for performance in items(root["performances"]) {
                numbers(performance, Walk.performanceNumbers)
                strings(performance, ["venueCode"])
                sum += performance["logo"] is NSNull ? 1 : 0
                for price in items(performance["prices"]) { numbers(price, Walk.priceNumbers) }
            }
        }
        return sum
    }
}

private enum Walk {
    static let statusStrings = ["created_at", "id_str", "text", "source", "lang"]
    static let statusNumbers = ["id", "in_reply_to_status_id", "retweet_count", "favorite_count"]
    static let statusBools = ["truncated", "favorited", "retweeted"]
    static let userStrings = ["name", "screen_name", "location", "description", "lang"]
    static let userNumbers = ["id", "followers_count", "friends_count"]
    static let performanceNumbers = ["eventId", "id", "start"]
    static let priceNumbers = ["amount", "audienceSubCategoryId", "seatCategoryId"]
}
