// What the options must be. Nothing is written if they are not.
//
// RUN: rm -rf %t && mkdir %t && echo occupied > %t/file
// RUN: not stg-translate --chakra-to-traces %s 2>&1 | FileCheck %s --check-prefix=NODIR
// NODIR: error: --chakra-to-traces needs --trace-dir=<directory>
// RUN: not stg-translate --chakra-to-traces --trace-dir=%t/d --trace-ranks=1 %s 2>&1 | FileCheck %s --check-prefix=RANKS
// RANKS: error: --trace-ranks expects LO:HI, two numbers, found '1'
// RUN: not stg-translate --chakra-to-traces --trace-dir=%t/d --trace-ranks=2:2 %s 2>&1 | FileCheck %s --check-prefix=NORANKS
// NORANKS: error: ranks 2:2 are not a range within 0:4 (the first one, and one past the last)
// RUN: not stg-translate --chakra-to-traces --trace-dir=%t/d --trace-ranks=3:5 %s 2>&1 | FileCheck %s --check-prefix=MORERANKS
// MORERANKS: error: ranks 3:5 are not a range within 0:4
// RUN: not stg-translate --chakra-to-traces --trace-dir=%t/d --trace-splits=0 %s 2>&1 | FileCheck %s --check-prefix=SPLITS
// SPLITS: error: the number of splits must be at least 1
// RUN: not stg-translate --chakra-to-traces --trace-dir=%t/d --trace-prefix=a/b %s 2>&1 | FileCheck %s --check-prefix=PREFIX
// PREFIX: error: 'a/b' cannot be the first part of a file name
// RUN: not stg-translate --chakra-to-traces --trace-dir=%t/d --trace-bundle '--trace-prefix=a\b' %s 2>&1 | FileCheck %s --check-prefix=BUNDLE
// BUNDLE: error: 'a\b' cannot be the first part of a file name
// RUN: not stg-translate --chakra-to-traces --trace-dir=%t/file/d %s 2>&1 | FileCheck %s --check-prefix=DIR
// DIR: error: cannot create directory '{{.*}}/file/d': Not a directory
// RUN: not ls %t/d

// A file that cannot be made: a directory has its name. Nothing else is left of it,
// and there is no manifest.
// RUN: mkdir -p %t/taken/workload.1.et/x
// RUN: not stg-translate --chakra-to-traces --trace-dir=%t/taken --trace-threads=1 %s 2>&1 | FileCheck %s --check-prefix=TAKEN
// TAKEN: error: cannot write '{{.*}}/taken/workload.1.et': {{Is a directory|Directory not empty|File exists}}
// RUN: ls -A %t/taken | FileCheck %s --check-prefix=LEFT
// LEFT:      .stg-export
// LEFT-NEXT: comm_group.json
// LEFT-NEXT: workload.0.et
// LEFT-NEXT: workload.1.et
// LEFT-NOT:  {{.}}

// A device has the name of the directory.
// RUN: not stg-translate --chakra-to-traces --trace-dir=/dev/full %s 2>&1 | FileCheck %s --check-prefix=FULL
// FULL: error: '/dev/full' is not a directory

// No place for the memory timeline.
// RUN: not stg-translate --chakra-to-traces --trace-dir=%t/memory --trace-memory=%t/file/m %s 2>&1 | FileCheck %s --check-prefix=MEMORY
// MEMORY: error: cannot write '{{.*}}/file/m.{{.*}}.csv': Not a directory
// RUN: not ls %t/memory/manifest.json

// No space for it. (test/Tools/full-disk.test has no space for traces.)
// RUN: ln -s /dev/full %t/full.a.csv
// RUN: not stg-translate --chakra-to-traces --trace-dir=%t/space --trace-memory=%t/full %s 2>&1 | FileCheck %s --check-prefix=SPACE
// SPACE: error: cannot write '{{.*}}/full.a.csv': No space left on device
// RUN: not ls %t/space

// ASTRA-sim turns groups off where their path contains this word.
// RUN: stg-translate --chakra-to-traces --trace-dir=%t/empty %s 2>&1 | FileCheck %s --check-prefix=EMPTY
// EMPTY: warning: ASTRA-sim ignores communication groups in a file whose path contains 'empty', as '{{.*}}/empty' does

!x = !chakra.tensor<1000, activation>
chakra.graph @a mesh = #sym.mesh<tp = 4> {
  %x = chakra.state "x" : !x
  %0 = chakra.coll all_reduce "0"(%x) over ["tp"] : (!x) -> !x
}
