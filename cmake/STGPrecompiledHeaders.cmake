# Two thirds of what a compiler does for a file of ours is reading headers of MLIR
# and LLVM. Clang reads them once and loads from the result what a file uses; GCC
# loads all of it for every file, which takes as long as reading the headers.
if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  set(precompile_headers ON)
else()
  set(precompile_headers OFF)
endif()
option(STG_PRECOMPILE_HEADERS "Read headers of MLIR and LLVM once (pays with Clang)"
       ${precompile_headers})

# One target for each set of headers, whose result all other targets read. Of ours
# only the ops of the dialect are among them, for libraries most of whose files
# include them, and would be compiled again with any change of an op anyway. Who
# changes another header compiles only what reads it.
function(stg_add_precompiled_headers name)
  if(STG_PRECOMPILE_HEADERS)
    file(CONFIGURE OUTPUT precompiled-headers.cpp CONTENT "")
    add_library(${name} OBJECT
      ${CMAKE_CURRENT_BINARY_DIR}/precompiled-headers.cpp)
    llvm_update_compile_flags(${name})
    target_precompile_headers(${name} PRIVATE ${ARGN})
    if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
      # Compiler caches compare results by content.
      target_compile_options(${name} PRIVATE
        "SHELL:-Xclang -fno-pch-timestamp")
    endif()
  endif()
endfunction()

function(stg_use_precompiled_headers target name)
  if(STG_PRECOMPILE_HEADERS)
    target_precompile_headers(${target} REUSE_FROM ${name})
  endif()
endfunction()

set(llvm_headers
  <llvm/ADT/DenseMap.h>
  <llvm/ADT/MapVector.h>
  <llvm/ADT/STLExtras.h>
  <llvm/ADT/SetVector.h>
  <llvm/ADT/StringExtras.h>
  <llvm/ADT/StringMap.h>
  <llvm/Support/Error.h>
  <llvm/Support/FileSystem.h>
  <llvm/Support/FormatVariadic.h>
  <llvm/Support/JSON.h>
  <llvm/Support/Path.h>
  <llvm/Support/raw_ostream.h>
  <algorithm>
  <functional>
  <map>
  <memory>
  <optional>
  <set>
  <string>
  <vector>)
stg_add_precompiled_headers(STGPrecompiledLLVM ${llvm_headers})
set(mlir_headers
  <mlir/Bytecode/BytecodeOpInterface.h>
  <mlir/Dialect/Func/IR/FuncOps.h>
  <mlir/IR/Builders.h>
  <mlir/IR/BuiltinAttributes.h>
  <mlir/IR/BuiltinOps.h>
  <mlir/IR/BuiltinTypes.h>
  <mlir/IR/IRMapping.h>
  <mlir/IR/OpImplementation.h>
  <mlir/IR/PatternMatch.h>
  <mlir/Interfaces/InferTypeOpInterface.h>
  <mlir/Interfaces/SideEffectInterfaces.h>
  <mlir/Pass/PassManager.h>
  <mlir/Transforms/GreedyPatternRewriteDriver.h>)
stg_add_precompiled_headers(STGPrecompiledMLIR ${llvm_headers} ${mlir_headers})
stg_add_precompiled_headers(STGPrecompiledDialect ${llvm_headers} ${mlir_headers}
  <stg/Dialect/STG/IR/Loops.h>
  <stg/Dialect/STG/IR/Mixers.h>)
if(STG_PRECOMPILE_HEADERS)
  add_dependencies(STGPrecompiledDialect STGIRIncGen STGSymIRIncGen)
endif()
