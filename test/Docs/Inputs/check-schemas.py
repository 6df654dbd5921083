"""Checks that schemas describe what tools print: no less, and no more.

    check-schemas.py FOLDER SCHEMA=FILE...

Each FILE, a JSON text or one on each line, has to be valid under SCHEMA.json of FOLDER. Then
it is changed: with a member more, or without one that is required, no object may be valid.
And over all files of a schema each member that it names has to occur, and each object has to
be closed, so that nothing is described that no tool prints.

This is the part of JSON Schema that the schemas use; other keywords are an error.
"""

import copy
import json
import os
import re
import sys

TYPES = {
    "object": lambda value: isinstance(value, dict),
    "array": lambda value: isinstance(value, list),
    "string": lambda value: isinstance(value, str),
    "boolean": lambda value: isinstance(value, bool),
    "integer": lambda value: isinstance(value, int) and not isinstance(value, bool),
    "number": lambda value: isinstance(value, (int, float)) and not isinstance(value, bool),
    "null": lambda value: value is None,
}
SAYING = {"$schema", "$id", "$defs", "title", "description", "default"}
ASKING = {"$ref", "type", "const", "enum", "oneOf", "pattern", "minimum", "maximum",
          "items", "minItems", "maxItems", "uniqueItems",
          "properties", "required", "additionalProperties", "propertyNames"}
STRANGE = "no member of any schema"


class Schemas:
    """The schemas of a folder, and which of their members were seen."""

    def __init__(self, folder):
        self.files = {}
        for name in os.listdir(folder):
            with open(os.path.join(folder, name), encoding="utf-8") as file:
                self.files[name] = json.load(file)
        self.seen = set()

    def resolve(self, reference, name):
        file, _, path = reference.partition("#")
        name = file or name
        schema = self.files[name]
        for key in path.strip("/").split("/") if path else []:
            schema = schema[key]
        return schema, name

    def errors(self, value, schema, name, where="$"):
        """Yields what is wrong with the value."""
        unknown = set(schema) - SAYING - ASKING
        assert not unknown, f"{name}: keywords {unknown} are not known here"
        if "$ref" in schema:
            yield from self.errors(value, *self.resolve(schema["$ref"], name), where)
        if "type" in schema and not TYPES[schema["type"]](value):
            yield f"{where}: {value!r} is no {schema['type']}"
            return
        if "const" in schema and value != schema["const"]:
            yield f"{where}: {value!r} is not {schema['const']!r}"
        if "enum" in schema and value not in schema["enum"]:
            yield f"{where}: {value!r} is none of {schema['enum']}"
        if "oneOf" in schema:
            fits = [part for part in schema["oneOf"]
                    if not any(self.errors(value, part, name, where))]
            if len(fits) != 1:
                yield f"{where}: {value!r} fits {len(fits)} of the alternatives"
        if isinstance(value, str) and not re.search(schema.get("pattern", ""), value):
            yield f"{where}: {value!r} does not match {schema['pattern']}"
        if TYPES["number"](value):
            if not schema.get("minimum", value) <= value <= schema.get("maximum", value):
                yield f"{where}: {value!r} is out of range"
        if isinstance(value, list):
            yield from self.array_errors(value, schema, name, where)
        if isinstance(value, dict):
            yield from self.object_errors(value, schema, name, where)

    def array_errors(self, value, schema, name, where):
        if not schema.get("minItems", 0) <= len(value) <= schema.get("maxItems", len(value)):
            yield f"{where}: {len(value)} items"
        if schema.get("uniqueItems") and len({json.dumps(i) for i in value}) < len(value):
            yield f"{where}: an item is there twice"
        if "items" in schema:
            for i, item in enumerate(value):
                yield from self.errors(item, schema["items"], name, f"{where}[{i}]")

    def object_errors(self, value, schema, name, where):
        for key in schema.get("required", []):
            if key not in value:
                yield f"{where}: '{key}' is missing"
        members = schema.get("properties", {})
        rest = schema.get("additionalProperties", True)
        for key, member in value.items():
            if "propertyNames" in schema:
                yield from self.errors(key, schema["propertyNames"], name, f"{where} key")
            if key in members:
                self.seen.add((name, id(members), key))
                yield from self.errors(member, members[key], name, f"{where}.{key}")
            elif rest is False:
                yield f"{where}: '{key}' is not in the schema"
            elif rest is not True:
                yield from self.errors(member, rest, name, f"{where}.{key}")

    def unseen(self, schema, name, where):
        """Yields members that occurred nowhere, and objects that are not closed."""
        members = schema.get("properties", {})
        if "properties" in schema and schema.get("additionalProperties") is not False:
            yield f"{where}: not closed"
        for key, member in members.items():
            if (name, id(members), key) not in self.seen:
                yield f"{where}.{key}: no file has it"
            yield from self.unseen(member, name, f"{where}.{key}")
        for key in ["items", "additionalProperties"]:
            if isinstance(schema.get(key), dict):
                yield from self.unseen(schema[key], name, f"{where}.{key}")
        for i, part in enumerate(schema.get("oneOf", [])):
            yield from self.unseen(part, name, f"{where}.{i}")
        for key, part in schema.get("$defs", {}).items():
            yield from self.unseen(part, name, f"{where}/{key}")


def places(value):
    """Yields each object inside."""
    if isinstance(value, dict):
        yield value
    for item in value.values() if isinstance(value, dict) else \
            value if isinstance(value, list) else []:
        yield from places(item)


def changed(value):
    """Yields the value with a strange member in one object, for each that it has."""
    result = copy.deepcopy(value)
    for place in places(result):
        place[STRANGE] = [{STRANGE: 0}]
        yield result
        del place[STRANGE]


def read(path):
    with open(path, encoding="utf-8") as file:
        text = file.read()
    try:
        return [json.loads(text)]
    except json.JSONDecodeError:
        return [json.loads(line) for line in text.splitlines()]


def check(schemas, name, path):
    """Yields what is wrong with a file."""
    schema = schemas.files[name]
    values = read(path)
    assert values, f"{path} is empty"
    for value in values:
        yield from schemas.errors(value, schema, name)
    # Changes to many lines that are alike show nothing more.
    for value in values[:3]:
        for other in changed(value):
            if not any(schemas.errors(other, schema, name)):
                yield f"a member more is not refused: {json.dumps(other)[:2000]}"
    for key in schema.get("required", []):
        fewer = {k: v for k, v in values[0].items() if k != key}
        if not any(schemas.errors(fewer, schema, name)):
            yield f"'{key}' is required, but not missed"


def main():
    schemas = Schemas(sys.argv[1])
    failures = 0
    names = []
    for argument in sys.argv[2:]:
        name, _, path = argument.partition("=")
        name += ".json"
        names.append(name)
        for message in check(schemas, name, path):
            print(f"{path}: {name}: {message}", file=sys.stderr)
            failures += 1
    for name in dict.fromkeys(names):
        for message in schemas.unseen(schemas.files[name], name, "$"):
            print(f"{name}: {message}", file=sys.stderr)
            failures += 1
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
