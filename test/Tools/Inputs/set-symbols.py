"""Compiles each model of a folder with a configuration, and with its values given by --set.

    set-symbols.py MODELS SCRATCH
"""

import json
import re
import subprocess
import sys
from pathlib import Path

SMALL = {"B": 4, "S": 16, "L": 2, "LM": 1}


def compile_model(model, flags, folder):
    subprocess.run(["stg-compile", model, "--quiet", "-o", folder, *flags], check=True,
                   stdout=subprocess.DEVNULL)
    manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    return manifest, (folder / "workload.0.et").read_bytes()


def main():
    models, scratch = map(Path, sys.argv[1:])
    for model in sorted(models.glob("*.mlir")):
        text = model.read_text(encoding="utf-8")
        config, values = re.search(r'stg\.config @"?([\w.-]+).*?{(.*)}', text).groups()
        free = re.findall(r"stg\.symbol @(\w+)(?! =| coordinate)\b", text)
        small = [f"--set={name}={SMALL[name]}" for name in free if name in SMALL]
        chosen, trace = compile_model(model, ["--config", config, *small],
                                      scratch / model.stem / "chosen")
        known = {**chosen["symbols"], **chosen.get("options", {})}
        names = dict.fromkeys([*free, *re.findall(r"(\w+) =", values)])
        flags = [f"--set={name}={known[name]}" for name in names]
        given, same = compile_model(model, flags, scratch / model.stem / "given")
        assert "config" not in given and chosen["config"] == config
        assert trace == same and given["symbols"] == chosen["symbols"], model
        print(f"{model.name}: without --config as with {config}")


if __name__ == "__main__":
    main()
