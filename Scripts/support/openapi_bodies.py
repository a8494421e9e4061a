"""Bodies for the proof of the generated validators and output types: Scripts/openapi runs it.

    openapi_bodies.py DOCUMENT SOURCES BODIES [VIOLATIONS]

Reads a document and the sources that were generated from it with --validators. Writes random valid bodies, the examples of
the document, and random violations of valid bodies into BODIES, one JSON object on each line, and SOURCES/ProofCases.swift,
which has the shape and the type of each schema. The same document always gives the same bodies. The validators of
openapi-schema-validator and jsonschema decide what is valid; nothing here knows how Errand validates.
"""

import base64, copy, json, os, random, re, string, sys, warnings
from urllib.parse import unquote

import yaml
from jsonschema import FormatChecker
from openapi_schema_validator import OAS30Validator, OAS31Validator

try:  # Python 3.11 and later
    from re import _constants as sre, _parser as sre_parse
except ImportError:
    import sre_constants as sre, sre_parse

warnings.simplefilter('ignore')
METHODS = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch', 'trace', 'query']
PREFIX = '/components/schemas/'


class Loader(getattr(yaml, 'CSafeLoader', yaml.SafeLoader)):
    """YAML 1.2: dates are text, and only true and false are Booleans."""


Loader.yaml_implicit_resolvers = {
    first: [(tag, rule) for tag, rule in rules if tag not in ('tag:yaml.org,2002:timestamp', 'tag:yaml.org,2002:bool')]
    for first, rules in yaml.SafeLoader.yaml_implicit_resolvers.items()}
Loader.add_implicit_resolver('tag:yaml.org,2002:bool', re.compile('^(?:true|True|TRUE|false|False|FALSE)$'), list('tTfF'))


def read(path):
    with open(path, encoding='utf-8') as file:
        text = file.read()
    return json.loads(text) if path.endswith('.json') else yaml.load(text, Loader)


def keys(pointer):
    return [unquote(key).replace('~1', '/').replace('~0', '~') for key in pointer.split('/')[1:]]


def value(document, pointer):
    for key in keys(pointer):
        document = document[int(key)] if isinstance(document, list) else document[key]
    return document


class Document:
    """A document for one direction: members that the other direction has alone are not required, and not made."""

    def __init__(self, node, direction):
        self.node = copy.deepcopy(node)
        self.hidden = 'writeOnly' if direction == 'response' else 'readOnly'
        self.is30 = str(node['openapi']).startswith('3.0')
        self.relax(self.node, ())
        kind = OAS30Validator if self.is30 else OAS31Validator
        self.validator = kind(self.node, format_checker=formats())

    def resolved(self, schema):
        seen = 0
        while isinstance(schema, dict) and '$ref' in schema and seen < 50:
            schema, seen = value(self.node, schema['$ref'].split('#', 1)[1]), seen + 1
        return schema if isinstance(schema, dict) else {}

    def is_itself(self, schema):
        """Whether a schema is defined by itself, which is refused, so that there is no shape."""
        seen = []
        while isinstance(schema, dict) and len(schema.get('allOf') or [1, 2]) == 1:
            if any(schema is one for one in seen):
                return True
            seen.append(schema)
            schema = self.resolved(schema['allOf'][0])
        return False

    def is_hidden(self, schema):
        return isinstance(schema, dict) and (schema.get(self.hidden) is True or self.resolved(schema).get(self.hidden) is True)

    def relax(self, node, path):
        if isinstance(node, list):
            for item in node:
                self.relax(item, path)
        if not isinstance(node, dict):
            return
        names, properties = node.get('required'), node.get('properties')
        if isinstance(names, list) and isinstance(properties, dict):
            node['required'] = [name for name in names if not self.is_hidden(properties.get(name))]
            if not node['required']:
                del node['required']
        for key, item in node.items():
            if key not in ('example', 'examples', 'default', 'enum', 'const'):
                self.relax(item, path + (key,))

    def is_valid(self, schema, body):
        try:
            return self.validator.evolve(schema=self.pinned(schema)).is_valid(body)
        except RecursionError:
            return None

    def pinned(self, schema):
        """The schema with what its references lead into."""
        return {'allOf': [schema], 'components': self.node.get('components', {}), 'paths': self.node.get('paths', {})}


def formats():
    checker = FormatChecker(formats=())
    day = re.compile(r'(\d{4})-(\d\d)-(\d\d)$')
    time = re.compile(r'([01]\d|2[0-3]):[0-5]\d:([0-5]\d|60)(\.\d+)?([Zz]|[+-]([01]\d|2[0-3]):[0-5]\d)$')

    def is_day(text):
        match = day.match(text)
        if not match:
            return False
        year, month, number = map(int, match.groups())
        leap = year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
        return 1 <= month <= 12 and 1 <= number <= [31, 29 if leap else 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][month - 1]

    def text(rule):
        return lambda body: not isinstance(body, str) or bool(rule(body))

    def whole(bits):
        def check(body):
            if isinstance(body, bool) or not isinstance(body, (int, float)):
                return True
            return -(1 << bits - 1) <= body < (1 << bits - 1)
        return check

    checker.checks('date')(text(is_day))
    checker.checks('date-time')(text(lambda body: is_day(body[:10]) and body[10:11] in 'Tt ' and time.match(body[11:])))
    checker.checks('uuid')(text(lambda body: re.fullmatch('[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}', body)))
    checker.checks('int32')(whole(32))
    checker.checks('int64')(whole(64))
    return checker


class Maker:
    """Makes random values of schemas; the validator decides whether they are valid."""

    def __init__(self, document, chance):
        self.document, self.chance = document, chance

    def make(self, schema, depth=0):
        chance = self.chance
        if not isinstance(schema, dict):
            return {} if schema is not False else None
        if depth > 12:
            return self.shallow(schema)
        if '$ref' in schema:
            rest = {key: item for key, item in schema.items() if key not in ('$ref', 'description', 'summary')}
            made = self.make(self.document.resolved(schema), depth)
            return made if not rest or self.document.is30 else self.merged(made, self.make(rest, depth + 1), rest)
        if 'const' in schema:
            return copy.deepcopy(schema['const'])
        if schema.get('nullable') is True and chance.random() < 0.1:
            return None
        if schema.get('enum'):
            return copy.deepcopy(chance.choice(schema['enum']))
        parts = list(schema.get('allOf', []))
        for keyword in ('oneOf', 'anyOf'):
            if schema.get(keyword):
                variant = chance.choice(schema[keyword])
                made = self.named(schema, variant, self.make(variant, depth + 1))
                rest = {key: item for key, item in schema.items() if key != keyword}
                return self.merged(made, self.make(rest, depth + 1), rest)
        if parts:
            made = None
            for part in parts:
                other = self.make(part, depth + 1)
                made = other if made is None else self.merged(made, other, part)
            rest = {key: item for key, item in schema.items() if key != 'allOf'}
            return self.merged(made, self.make(rest, depth + 1), rest)
        kind = schema.get('type')
        if isinstance(kind, list):
            kind = chance.choice(kind)
        if kind is None:
            kind = ('object' if 'properties' in schema or 'additionalProperties' in schema
                    else 'array' if 'items' in schema else 'string' if 'pattern' in schema or 'maxLength' in schema else None)
        if kind is None:
            return chance.choice(['text', 7, True, {'a': 1}]) if depth else {}
        return getattr(self, 'make_' + kind)(schema, depth)

    def named(self, schema, variant, made):
        key = schema.get('discriminator', {}).get('propertyName') if isinstance(schema.get('discriminator'), dict) else None
        if not key or not isinstance(made, dict) or not isinstance(variant, dict) or '$ref' not in variant:
            return made
        reference = variant['$ref']
        mapping = schema['discriminator'].get('mapping', {})
        names = [name for name, target in mapping.items() if target == reference or reference.endswith('/' + target)]
        property = self.document.resolved(variant).get('properties', {}).get(key, {})
        if 'enum' not in property and 'const' not in property:
            made[key] = names[0] if names else reference.rsplit('/', 1)[1]
        return made

    @staticmethod
    def merged(one, other, schema):
        says = any(key in schema for key in (
            'type', 'properties', 'additionalProperties', 'items', '$ref', 'enum', 'const', 'allOf', 'anyOf', 'oneOf'))
        if not says:
            return one
        if isinstance(one, dict) and isinstance(other, dict):
            return {**one, **other}
        return other if one is None else one

    def shallow(self, schema):
        schema = self.document.resolved(schema)
        kind = schema.get('type')
        kind = kind[0] if isinstance(kind, list) else kind
        if schema.get('enum'):
            return schema['enum'][0]
        return {'string': 'text', 'integer': 1, 'number': 1, 'boolean': True, 'array': [], 'null': None}.get(kind, {})

    def make_null(self, schema, depth):
        return None

    def make_boolean(self, schema, depth):
        return self.chance.random() < 0.5

    def bounds(self, schema, step):
        low, high = schema.get('minimum'), schema.get('maximum')
        below, above = schema.get('exclusiveMinimum'), schema.get('exclusiveMaximum')
        if below is True:
            low = low + step
        elif isinstance(below, (int, float)) and below is not False:
            low = below + step
        if above is True:
            high = high - step
        elif isinstance(above, (int, float)) and above is not False:
            high = above - step
        if low is None:
            low = min(0, high - 100) if high is not None else 0
        return low, low + 1000 if high is None else high

    def make_integer(self, schema, depth):
        low, high = self.bounds(schema, 1)
        step = schema.get('multipleOf', 1)
        number = self.chance.randint(int(low), int(max(low, high)))
        return int(number // step * step) if step else number

    def make_number(self, schema, depth):
        low, high = self.bounds(schema, 0.25)
        step = schema.get('multipleOf', 0.25)
        number = low + self.chance.random() * (high - low)
        number = round(number / step) * step
        number = round(number, 6) if step == 0.25 or step < 1 else number
        return int(number) if number == int(number) and self.chance.random() < 0.5 else number

    def make_string(self, schema, depth):
        chance = self.chance
        made = {
            'date-time': '2026-0%d-1%dT12:00:0%dZ', 'date': '2026-0%d-1%d', 'time': '12:0%d:0%dZ', 'email': 'a%d@example%d.com',
            'uri': 'https://example.com/%d/%d', 'url': 'https://example.com/%d/%d', 'ipv4': '192.0.%d.%d', 'ipv6': '2001:db8::%d:%d',
            'uuid': '123e4567-e89b-12d3-a456-4266141740%d%d', 'hostname': 'a%d.example%d.com',
        }.get(schema.get('format'))
        if made:
            return made % tuple(chance.randint(1, 9) for _ in range(made.count('%d')))
        if schema.get('format') == 'byte' or schema.get('contentEncoding') == 'base64':
            return base64.b64encode(bytes(chance.randrange(256) for _ in range(chance.randint(0, 9)))).decode()
        low = schema.get('minLength', 0)
        high = min(schema.get('maxLength', low + 12), low + 12)
        if 'pattern' in schema:
            try:
                return matching(schema['pattern'], chance, low)
            except (re.error, NotImplementedError):
                pass
        letters = string.ascii_letters + string.digits + ' _-/"\\é😀'
        return ''.join(chance.choice(letters) for _ in range(chance.randint(low, max(low, high))))

    def make_array(self, schema, depth):
        low = schema.get('minItems', 0)
        count = self.chance.randint(low, max(low, min(schema.get('maxItems', low + 2), low + 2))) if depth < 8 else low
        first = schema.get('prefixItems', [])
        items = schema.get('items', {})
        made = [self.make(part, depth + 1) for part in first]
        if items is not False:
            made += [self.make(items, depth + 1) for _ in range(count - len(made))]
        if schema.get('uniqueItems'):
            made = [item for place, item in enumerate(made) if item not in made[:place]]
        return made

    def make_object(self, schema, depth):
        made = {}
        required = schema.get('required', [])
        likely = 0.8 if depth < 2 else 0.4 if depth < 5 else 0.1
        for name, property in schema.get('properties', {}).items():
            if self.document.is_hidden(property):
                continue
            if name in required or self.chance.random() < likely:
                made[name] = self.make(property, depth + 1)
        for name in required:
            if name not in made and name not in schema.get('properties', {}):
                made[name] = 'text'
        additional = schema.get('additionalProperties')
        patterns = schema.get('patternProperties')
        if patterns and self.chance.random() < 0.7:
            pattern, inner = self.chance.choice(list(patterns.items()))
            made[matching(pattern, self.chance, 0)] = self.make(inner, depth + 1)
        elif isinstance(additional, dict) or additional is True and not schema.get('properties'):
            for number in range(self.chance.randint(schema.get('minProperties', 0), 2)):
                made['key%d' % number] = self.make(additional, depth + 1)
        return made


def matching(pattern, chance, minimum):
    """Text that a regular expression matches."""
    def write(items):
        return ''.join(one(operator, argument) for operator, argument in items)

    def one(operator, argument):
        if operator is sre.LITERAL:
            return chr(argument)
        if operator is sre.NOT_LITERAL:
            return 'b' if argument == ord('a') else 'a'
        if operator is sre.ANY:
            return 'a'
        if operator is sre.AT:
            return ''
        if operator is sre.IN:
            return member(argument)
        if operator is sre.BRANCH:
            return write(chance.choice(argument[1]))
        if operator is sre.SUBPATTERN:
            return write(argument[-1])
        if operator in (sre.MAX_REPEAT, sre.MIN_REPEAT):
            low, high, inner = argument
            count = chance.randint(low, min(high, low + 3))
            return ''.join(write(inner) for _ in range(max(count, min(minimum, high))))
        raise NotImplementedError(operator)

    def member(items):
        if items[0][0] is sre.NEGATE:
            refused = {chr(item) for kind, item in items if kind is sre.LITERAL}
            return next(letter for letter in 'abcxyz019_-' if letter not in refused)
        kind, item = chance.choice(items)
        if kind is sre.LITERAL:
            return chr(item)
        if kind is sre.RANGE:
            return chr(chance.randint(*item))
        return {sre.CATEGORY_DIGIT: '7', sre.CATEGORY_SPACE: ' ', sre.CATEGORY_WORD: 'w'}.get(item, 'a')

    return write(sre_parse.parse(pattern))


def violated(body, chance):
    """A copy of a body with one random change."""
    body = copy.deepcopy(body)
    places = []

    def walk(holder, key, item, depth):
        places.append((holder, key, item))
        if isinstance(item, dict):
            for name in item:
                walk(item, name, item[name], depth + 1)
        elif isinstance(item, list):
            for place in range(len(item)):
                walk(item, place, item[place], depth + 1)

    root = [body]
    walk(root, 0, body, 0)
    holder, key, item = chance.choice(places)
    others = ['text', 7, 1.5, True, None, [], {}, ['text'], {'a': 1}]
    changes = [chance.choice([other for other in others if type(other) is not type(item)])]
    if isinstance(item, str):
        changes += ['', item + 'x', item[:-1], '\u0000' * 3, item.upper() + '!', 'x' * 5000]
    elif isinstance(item, (int, float)) and not isinstance(item, bool):
        changes += [-10 ** 12, item + 0.5, -item - 1, 10 ** 12, item * 1000 + 1, 2 ** 31, 2 ** 63]
    elif isinstance(item, list):
        changes += [[], item + item, item + [None], item * 200 if len(item) < 3 else item[:1]]
    elif isinstance(item, dict):
        changes += [{**item, 'not_a_member': 1}, {}, {**item, 'not_a_member': None}]
    if isinstance(holder, dict) and chance.random() < 0.5:
        del holder[key]
        return root[0], 'a member is missing'
    holder[key] = chance.choice(changes)
    return root[0], 'another value'


# The sources

def cases(sources):
    """The shapes of the sources: key of the schema, expression of the shape, output type or None, direction."""
    found = []
    for folder, _, files in sorted(os.walk(sources)):
        for name in sorted(files):
            if not name.endswith('.swift') or name == 'ProofCases.swift':
                continue
            with open(os.path.join(folder, name), encoding='utf-8') as file:
                text = file.read()
            for part in re.split(r'\n(?=(?:public )?final class\s)', text)[1:]:
                owner = re.match(r'(?:public )?final class\s+(\w+)', part).group(1)
                alias = re.search(r'\n    (?:public )?typealias Output =\s+([^\n]+)', part)
                output = alias.group(1).strip() if alias else None
                if output is None and re.search(r'\n    (?:public )?(?:struct|enum|indirect enum) Output: [^\n]*Codable', part):
                    output = owner + '.Output'
                elif output is not None:
                    output = owner + '.Output'
                for kind, direction in (('shape', 'response'), ('bodyShape', 'request')):
                    match = re.search(r'static let %s = \w+Schemas\.shape\(\s*"((?:[^"\\]|\\.)*)"\)' % kind, part)
                    if match:
                        key = match.group(1).replace('\\"', '"').replace('\\\\', '\\')
                        found.append((key, owner + '.' + kind, output if kind == 'shape' else None, direction, owner))
    return found


def swift(text):
    return json.dumps(text, ensure_ascii=False).replace('\\/', '/')


def operations(document):
    for path, item in document.node.get('paths', {}).items():
        if path.startswith('/'):
            item = document.resolved(item)
            for method in METHODS:
                if isinstance(item.get(method), dict):
                    yield item[method]


def media(document, operation, direction):
    if direction == 'request':
        holders = [operation.get('requestBody', {})]
    else:
        holders = [response for status, response in operation.get('responses', {}).items() if status.startswith('2')]
    for holder in holders:
        for kind, content in document.resolved(holder).get('content', {}).items():
            if isinstance(content, dict) and 'json' in kind and 'schema' in content and 'lines' not in kind:
                yield content


def examples(document, content, schema):
    found = []
    if 'example' in content:
        found.append(content['example'])
    for example in content.get('examples', {}).values():
        example = document.resolved(example)
        if 'value' in example:
            found.append(example['value'])
    schema = document.resolved(schema)
    if 'example' in schema:
        found.append(schema['example'])
    if isinstance(schema.get('examples'), list):
        found += schema['examples']
    return found


def has_other_files(node):
    if isinstance(node, dict):
        reference = node.get('$ref')
        return isinstance(reference, str) and not reference.startswith('#') or any(map(has_other_files, node.values()))
    return isinstance(node, list) and any(map(has_other_files, node))


def main():
    path, sources, bodies = sys.argv[1:4]
    wanted = int(sys.argv[4]) if len(sys.argv) > 4 else 1000
    node = read(path)
    known = {}
    # Documents of several files are compiled, and have no bodies.
    if has_other_files(node):
        node = {**node, 'paths': {}, 'components': {}}
    else:
        for key, shape, output, direction, owner in cases(sources):
            known.setdefault((key, direction), (shape, output, owner))
    documents = {direction: Document(node, direction) for direction in ('request', 'response')}
    # The schemas of the shapes: those of components by their names, others by the operations that have them.
    schemas, found = {}, {}
    for direction, document in documents.items():
        inline = {}
        for operation in operations(document):
            for content in media(document, operation, direction):
                schema = content['schema']
                if '$ref' in schema and '#' in schema['$ref'] and len(schema['$ref'].split('#')[0]) == 0:
                    key = '/'.join(keys('/' + schema['$ref'].split('#', 1)[1].lstrip('/'))[2:])
                    name = (key, direction)
                    if name in known or (key + '.request', direction) in known:
                        name = name if name in known else (key + '.request', direction)
                        schemas[name] = schema
                        found.setdefault(name, []).extend(examples(document, content, schema))
                else:
                    inline.setdefault(operation.get('operationId') or id(operation), (content, schema))
        normal = {re.sub(r'[^a-z0-9]', '', str(name).lower()): item for name, item in inline.items()}
        for (key, kind), (shape, output, owner) in known.items():
            if kind == direction and (key, kind) not in schemas:
                item = normal.get(owner.lower()) or normal.get(re.sub('(request|endpoint)$', '', owner.lower()))
                if item and key.split('.')[0] == owner:
                    schemas[(key, kind)] = item[1]
                    found.setdefault((key, kind), []).extend(examples(document, item[0], item[1]))

    names = sorted(name for name, schema in schemas.items()
                   if not documents[name[1]].is_itself(documents[name[1]].resolved(schema)))
    with open(os.path.join(sources, 'ProofCases.swift'), 'w', encoding='utf-8') as file:
        file.write('public import Errand\npublic import ProofRunner\n\n')
        file.write('@available(*, deprecated) nonisolated public func proofCases() -> [ProofCase] {\n')
        file.write('    var cases: [ProofCase] = []\n')
        for number, name in enumerate(names):
            file.write('    part%d(&cases)\n' % number)
        file.write('    return cases\n}\n')
        for number, name in enumerate(names):
            shape, output, owner = known[name]
            coding = '{ try ProofCase.copy($0, %s.self) }' % output if output else 'nil'
            file.write('\n@available(*, deprecated) nonisolated private func part%d(_ cases: inout [ProofCase]) {\n' % number)
            file.write('    cases.append(ProofCase(%s, %s, %s))\n}\n' % (swift('%s %s' % name), shape, coding))

    chance = random.Random(20260101)
    count = {'valid': 0, 'example': 0, 'contradicting example': 0, 'violation': 0, 'not made': 0}
    with open(bodies, 'w', encoding='utf-8') as file:
        def write(name, kind, body, reason=''):
            count[kind] += 1
            line = {'schema': '%s %s' % name, 'kind': kind, 'reason': reason, 'body': body}
            file.write(json.dumps(line, ensure_ascii=False) + '\n')

        made = []
        for name in names:
            document = documents[name[1]]
            maker = Maker(document, chance)
            tries = 0
            own = 0
            for example in found.get(name, []):
                if isinstance(example, str):
                    continue
                is_valid = document.is_valid(schemas[name], example)
                write(name, 'example' if is_valid else 'contradicting example', example)
                if is_valid:
                    made.append((name, example))
            rounds = max(2, min(8, 600 // max(1, len(names))))
            while own < rounds and tries < rounds * 4:
                tries += 1
                try:
                    body = maker.make(schemas[name])
                    is_valid = document.is_valid(schemas[name], body)
                except (RecursionError, StopIteration, TypeError, ValueError):
                    continue
                if is_valid:
                    own += 1
                    write(name, 'valid', body)
                    made.append((name, body))
            if own == 0:
                count['not made'] += 1
        tries = 0
        while made and count['violation'] < wanted and tries < wanted * 60:
            tries += 1
            name, body = chance.choice(made)
            other, reason = violated(body, chance)
            if documents[name[1]].is_valid(schemas[name], other) is False:
                write(name, 'violation', other, reason)
    print('%d schemas of %d shapes, %s' % (len(names), len(known), ', '.join('%d %s' % (number, kind) for kind, number in count.items() if number)))


main()
