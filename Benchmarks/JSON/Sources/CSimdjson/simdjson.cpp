#include "CSimdjson.h"
#include <simdjson.h>
#include <string>

using namespace simdjson;

static dom::parser parser;

static size_t visit(dom::element element) {
    size_t sum = 1;
    switch (element.type()) {
    case dom::element_type::ARRAY:
        for (auto item : dom::array(element)) sum += visit(item);
        break;
    case dom::element_type::OBJECT:
        for (auto field : dom::object(element)) sum += (field.key.size() & 1) + visit(field.value);
        break;
    case dom::element_type::STRING:
        sum += std::string_view(element).size() & 1;
        break;
    default:
        break;
    }
    return sum;
}

extern "C" size_t simdjson_parse(const char *bytes, size_t count) {
    dom::element element;
    return parser.parse(bytes, count).get(element) ? 0 : count;
}

extern "C" size_t simdjson_walk(const char *bytes, size_t count) {
    dom::element element;
    return parser.parse(bytes, count).get(element) ? 0 : visit(element);
}

extern "C" const char *simdjson_implementation(void) {
    static std::string name = simdjson::get_active_implementation()->name();
    return name.c_str();
}
