/// The types into which the documents are decoded.
struct Twitter: Codable {
    var statuses: [Status]
    var search_metadata: Metadata

    struct Metadata: Codable {
        var count: Int
        var query: String
    }

    struct Status: Codable {
        var created_at: String
        var id: Int
        var id_str: String
        var text: String
        var source: String
        var truncated: Bool
        var in_reply_to_status_id: Int?
        var user: User
        var retweet_count: Int
        var favorite_count: Int
        var favorited: Bool
        var retweeted: Bool
        var lang: String
    }

    struct User: Codable {
        var id: Int
        var name: String
        var screen_name: String
        var location: String
        var description: String
        var followers_count: Int
        var friends_count: Int
        var verified: Bool
        var lang: String
    }
}

struct Canada: Codable {
    var type: String
    var features: [Feature]

    struct Feature: Codable {
        var type: String
        var properties: [String: String]
        var geometry: Geometry
    }

    struct Geometry: Codable {
        var type: String
        var coordinates: [[[Double]]]
    }
}

struct Citm: Codable {
    var performances: [Performance]

    struct Performance: Codable {
        var eventId: Int
        var id: Int
        var logo: String?
        var name: String?
        var prices: [Price]
        var seatMapImage: String?
        var start: Int
        var venueCode: String
    }

    struct Price: Codable {
        var amount: Int
        var audienceSubCategoryId: Int
        var seatCategoryId: Int
    }
}
