# The tests that are text files with RUN lines.
# pylint: disable=undefined-variable

import glob
import os
import shutil
import subprocess

import lit.formats

config.name = "STG"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir", ".test"]
# Unit is a suite of its own: lit finds its site file in the build directory.
config.excludes = ["Inputs", "lib"]
config.test_source_root = os.path.dirname(__file__)
config.test_exec_root = os.path.join(config.stg_obj_root, "test")

config.substitutions += [
    ("%python", '"%s"' % config.python_executable),
    ("%stg_src_root", config.stg_src_root),
    ("%stg_obj_root", config.stg_obj_root),
    ("%models", os.path.join(config.stg_src_root, "models")),
    ("%shlibext", config.shlib_ext),
    # For what builds other projects with CMake.
    ("%compilers", "CC=%s CXX=%s" % (config.c_compiler, config.cxx_compiler)),
]

# Tools under test come first, then FileCheck, not, split-file and others.
config.environment["PATH"] = os.pathsep.join(
    [
        config.stg_tools_dir,
        config.llvm_tools_dir,
        config.environment.get("PATH", ""),
    ]
)

# Checks in Python import each other; nothing is written beside them.
config.environment["PYTHONDONTWRITEBYTECODE"] = "1"


def can_mount():
    """True if a disk of our own can be had, in a mount namespace of its own."""
    command = "unshare --user --map-root-user --mount mount -t tmpfs tmpfs /tmp"
    try:
        return subprocess.run(command.split(), stderr=subprocess.DEVNULL).returncode == 0
    except OSError:
        return False


if can_mount():
    config.available_features.add("tmpfs")

# Pictures are drawn with `dot`.
if shutil.which("dot"):
    config.available_features.add("graphviz")

# Pages are looked at in a browser.
for browser in filter(shutil.which, ("chromium", "chromium-browser", "google-chrome")):
    config.environment["CHROMIUM"] = browser
    config.available_features.add("chromium")

# Sanitizers map more addresses than a limit of these leaves.
if not config.stg_sanitizers:
    config.available_features.add("address-limit")

# Without pybind11 there is no package for Python. Sanitizers must be there when a
# process starts, which those of an extension are not.
if not config.stg_sanitizers and glob.glob(os.path.join(config.stg_obj_root, "python", "stg", "_stg.*.so")):
    config.available_features.add("python-package")


def find_modules(*names):
    """Those of the modules that Python finds."""
    script = "import importlib.util, sys; print(*filter(importlib.util.find_spec, sys.argv[1:]))"
    command = [config.python_executable, "-c", script, *names]
    return subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout.split()


for module in find_modules("ensurepip", "matplotlib", "mypy", "pandas", "setuptools"):
    config.available_features.add("python-" + module)


def can_mount_bundles():
    """True if there is stg-mount, and FUSE to mount with."""
    if not os.path.exists(os.path.join(config.stg_tools_dir, "stg-mount")):
        return False
    try:
        os.close(os.open("/dev/fuse", os.O_RDWR))
    except OSError:
        return False
    # A container may show the device and yet forbid mounts, to root as well.
    cap_sys_admin = 21
    with open("/proc/self/status") as status:
        fields = dict(line.split(":", 1) for line in status if ":" in line)
    if not int(fields["CapBnd"], 16) >> cap_sys_admin & 1:
        return False
    return shutil.which("fusermount3") is not None


if can_mount_bundles():
    config.available_features.add("fuse")
