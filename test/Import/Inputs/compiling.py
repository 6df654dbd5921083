"""What the checks of configurations share: what the compiler says of them, the library's own, and
configurations with sizes that are drawn by a fixed seed. All are compiled in this process, which
takes a third of the time of a tool that starts for each."""

import json
import random
from pathlib import Path

import stg

NUMBERS = ("parameters", "active_parameters", "embedding_parameters")


def numbers(path):
    """Total, active and vocabulary parameters; what is wrong where there are none."""
    try:
        manifest = stg.compile(str(path), batch=2).manifest
    except stg.Error as error:
        return str(error)
    return tuple(manifest[key] for key in NUMBERS)


def parameters(path):
    found = numbers(path)
    return found if isinstance(found, str) else found[0]


def list_models():
    """The models of the library, by name."""
    return {model.name: model._asdict() for model in stg.list_models()}


def type_key(family):
    """The key that says what a configuration is: diffusers has classes."""
    return "model_type" if family.islower() else "_class_name"


def read_sizes(families):
    """The models that stand in the tables of families: name, table and configuration."""
    for path in sorted(Path(families).glob("*.json")):
        table = json.loads(path.read_text())
        for name, size in table.get("sizes", {}).items():
            yield name, path.stem, {type_key(table["types"][0]): table["types"][0]} | size


def check_drawn(folder, runs, draws, means_something, count, measure):
    """Configurations of all families in turn, of which `measure` finds what `count` says. What is
    null is left out of some, but for keys of which null means something."""
    draw, wrong = random.Random(1), []
    for number in range(runs):
        family = sorted(draws)[number % len(draws)]
        config = {type_key(family): family} | draws[family](draw)
        config = {key: value for key, value in config.items()
                  if value is not None or key in means_something or draw.random() < 0.5}
        path = Path(folder) / "drawn.json"
        path.write_text(json.dumps(config))
        expected, found = count(config), measure(path)
        if expected != found:
            wrong.append(f"{config}: {expected} expected, {found}")
    return wrong


def report(number, runs, wrong):
    print(*wrong, sep="\n")
    print(f"{number} models of the library, {runs} drawn configurations, {len(wrong)} wrong")
