/// The members that HAR 1.2 requires, and their types, as a JSON Schema.
enum HARSchema {
    static let text = #"""
        {"type":"object","required":["log"],"properties":{"log":{"type":"object",
        "required":["version","creator","entries"],"properties":{"version":{"type":"string"},
        "creator":{"type":"object","required":["name","version"],
        "properties":{"name":{"type":"string"},"version":{"type":"string"}}},
        "entries":{"type":"array","minItems":1,"items":{"type":"object",
        "required":["startedDateTime","time","request","response","cache","timings"],"properties":{
        "startedDateTime":{"type":"string","pattern":"^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d\\.\\d{3}Z$"},
        "time":{"type":"number"},
        "request":{"type":"object","required":["method","url","httpVersion","cookies","headers",
        "queryString","headersSize","bodySize"],"properties":{"method":{"type":"string"},
        "url":{"type":"string"},"httpVersion":{"type":"string"},"cookies":{"type":"array"},
        "headers":{"type":"array"},"queryString":{"type":"array","items":{"type":"object",
        "required":["name","value"]}},"headersSize":{"type":"integer"},"bodySize":{"type":"integer"}}},
        "response":{"type":"object","required":["status","statusText","httpVersion","cookies",
        "headers","content","redirectURL","headersSize","bodySize"],"properties":{
        "status":{"type":"integer"},"statusText":{"type":"string"},"httpVersion":{"type":"string"},
        "cookies":{"type":"array"},"headers":{"type":"array","items":{"type":"object",
        "required":["name","value"]}},"content":{"type":"object","required":["size","mimeType"],
        "properties":{"size":{"type":"integer"},"mimeType":{"type":"string"}}},
        "redirectURL":{"type":"string"},"headersSize":{"type":"integer"},"bodySize":{"type":"integer"}}},
        "cache":{"type":"object"},"timings":{"type":"object","required":["send","wait","receive"],
        "properties":{"send":{"type":"number"},"wait":{"type":"number"},"receive":{"type":"number"}}}}}}}}}}
        """#
}
