# LLVM and MLIR come twice, as libLLVM.so and libMLIR.so and as archives, and a
# program that has both has every type and every flag twice. Who links decides: a
# target with the property STG_STATIC_LLVM gets the archives, any other the shared
# libraries. Our libraries leave it open, whatever they are linked into.
#
# This file is also installed, for projects that link our libraries.

set(_stg_static "$<BOOL:$<TARGET_PROPERTY:STG_STATIC_LLVM>>")

# stg_link_llvm(TARGET SCOPE [LLVM archives...] [MLIR archives...])
function(stg_link_llvm target scope)
  cmake_parse_arguments(ARG "" "" "LLVM;MLIR" ${ARGN})
  foreach(library IN LISTS ARG_MLIR ARG_LLVM)
    target_link_libraries(${target} ${scope} "$<${_stg_static}:${library}>")
  endforeach()
  if(ARG_MLIR)
    target_link_libraries(${target} ${scope} "$<$<NOT:${_stg_static}>:MLIR>")
  endif()
  target_link_libraries(${target} ${scope} "$<$<NOT:${_stg_static}>:LLVM>")
endfunction()

# Debian's archives of MLIR say that they need libLLVM.so. With the property they
# get what they use of it.
function(stg_free_mlir_archives)
  set(archives LLVMSupport LLVMRemarks LLVMSupportLSP)
  list(TRANSFORM archives REPLACE "(.+)" "$<${_stg_static}:\\1>")
  foreach(target IN LISTS MLIR_EXPORTED_TARGETS)
    get_target_property(libraries ${target} INTERFACE_LINK_LIBRARIES)
    if("LLVM" IN_LIST libraries)
      list(TRANSFORM libraries REPLACE "^LLVM$"
        "$<$<NOT:${_stg_static}>:LLVM>;${archives}")
      set_target_properties(${target} PROPERTIES
        INTERFACE_LINK_LIBRARIES "${libraries}")
    endif()
  endforeach()
endfunction()
