# Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
# See the LICENSE file for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Makes the package for Python, for pip: CMake compiles what is C++.

The environment variable STG_BUILD_DIR names a build folder of CMake in which everything is built
already. Without it, the compiler is built in build-pip.
"""

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

ROOT = Path(__file__).resolve().parent


class BuildWithCMake(build_ext):
    """Installs the extension, the library and the models into the package."""

    def build_extension(self, ext):
        build = os.environ.get("STG_BUILD_DIR")
        if not build:
            build = ROOT / "build-pip"
            subprocess.run(
                ["cmake", "-S", ROOT, "-B", build, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release",
                 "-DSTG_INCLUDE_TESTS=OFF", f"-DPython3_EXECUTABLE={sys.executable}"], check=True)
            subprocess.run(["cmake", "--build", build, "--target", "stg_python"], check=True)
        place = Path(self.get_ext_fullpath(ext.name)).parent.parent
        subprocess.run(["cmake", "--install", build, "--component", "pip", "--prefix", place],
                       check=True, stdout=subprocess.DEVNULL)


def get_version():
    """The one of the project."""
    text = (ROOT / "CMakeLists.txt").read_text(encoding="utf-8")
    return re.search(r"^project\(stg VERSION ([0-9.]+)", text, re.MULTILINE).group(1)


with tempfile.TemporaryDirectory() as scratch:
    # Nothing is left in the source tree.
    setup(
        version=get_version(),
        packages=["stg"],
        package_dir={"": "python"},
        package_data={"stg": ["*.pyi", "py.typed"]},
        ext_modules=[Extension("stg._stg", [])],
        cmdclass={"build_ext": BuildWithCMake},
        options={"build": {"build_base": scratch}, "egg_info": {"egg_base": scratch}},
    )
