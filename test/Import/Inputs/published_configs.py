"""Published configurations that are no models of the library: other sizes, and keys of their time.

Each, with all keys that its file has, has the parameters that were published with its weights.

Usage: published_configs.py CONFIGS FOLDER
"""

import json
import sys
from pathlib import Path

import compiling


def main(configs, folder):
    wrong, published = [], json.loads(Path(configs).read_text())
    for name, model in published.items():
        path = Path(folder) / "config.json"
        path.write_text(json.dumps(model["config"]))
        found = compiling.parameters(path)
        if found != model["parameters"]:
            wrong.append(f"{name}: {model['parameters']} expected, {found}")
    print(*wrong, sep="\n")
    print(f"{len(published)} published configurations, {len(wrong)} wrong")


main(*sys.argv[1:])
