# What the lit tests and the unit tests have in common.
# pylint: disable=undefined-variable

import os

from lit.util import killProcessAndChildrenIsSupported

# A pass that has become quadratic shows as a timeout. lit needs psutil for it.
if killProcessAndChildrenIsSupported()[0]:
    lit_config.maxIndividualTestTime = 600

if config.stg_assertions:
    config.available_features.add("assertions")


def set_sanitizer_options(name, defaults):
    """Sets the variable `name`; what the user has set there wins."""
    user = os.environ.get(name)
    config.environment[name] = defaults + (":" + user if user else "")


if config.stg_sanitizers:
    config.available_features.add("sanitizers")
    symbolizer = os.path.join(config.llvm_tools_dir, "llvm-symbolizer")
    if os.path.exists(symbolizer):
        config.environment["LLVM_SYMBOLIZER_PATH"] = symbolizer
    # Our code poisons the memory of attributes, which MLIR then uses and
    # cannot unpoison because it is not instrumented.
    set_sanitizer_options("ASAN_OPTIONS", "allow_user_poisoning=0:detect_leaks=0")
    set_sanitizer_options("UBSAN_OPTIONS", "print_stacktrace=1:halt_on_error=1")
    suppressions = os.path.join(config.stg_src_root, "test", "tsan-suppressions.txt")
    set_sanitizer_options("TSAN_OPTIONS", "suppressions=%s" % suppressions)
