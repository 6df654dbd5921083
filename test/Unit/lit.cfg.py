# The gtest binaries, whose names end in Tests: lit runs them in shards and counts each of their tests.
# pylint: disable=undefined-variable

import lit.formats

config.name = "STG-Unit"
config.test_format = lit.formats.GoogleTest(".", "Tests")
config.test_source_root = config.stg_tools_dir
config.test_exec_root = config.stg_tools_dir
