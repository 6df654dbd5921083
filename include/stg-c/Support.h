/*===- stg-c/Support.h - What all of the C interface uses ---------*- C -*-===*\
|*                                                                            *|
|* Part of the STG project, under the Apache License v2.0 with LLVM           *|
|* Exceptions. See the LICENSE file for license information.                  *|
|* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception                    *|
|*                                                                            *|
|*===----------------------------------------------------------------------===*|
|*                                                                            *|
|* Texts, exact numbers and errors. A function that can fail returns an error *|
|* that the caller destroys, or null; what it would have made is then not     *|
|* made. Nothing is printed.                                                  *|
|*                                                                            *|
|* What is destroyed may be null. No other pointer may be, unless its comment *|
|* says what null means.                                                      *|
|*                                                                            *|
\*===----------------------------------------------------------------------===*/

#ifndef STG_C_SUPPORT_H
#define STG_C_SUPPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define STG_C_EXPORT __attribute__((visibility("default")))
#else
#define STG_C_EXPORT
#endif

#ifdef __cplusplus
extern "C" {
#endif

/** Text without a zero at its end. */
typedef struct StgText {
  const char *data;
  size_t size;
} StgText;

/** A count that may exceed 64 bits: high * 2^64 + low. */
typedef struct StgExact {
  int64_t high;
  uint64_t low;
} StgExact;

typedef enum StgSeverity {
  STG_ERROR = 0,
  STG_WARNING = 1,
  STG_REMARK = 2,
  STG_NOTE = 3 /**< Belongs to the message before it that is not a note. */
} StgSeverity;

/** What is said about the input, and where it was seen. */
typedef struct StgMessage {
  StgSeverity severity;
  StgText text;
  StgText file;         /**< Empty if it has no place. */
  int64_t line, column; /**< From 1; 0 if it has no place. */
} StgMessage;

/** Why a call failed: one message or several. */
typedef struct StgError StgError;

/** Null is allowed everywhere. Messages live as long as the error. */
STG_C_EXPORT size_t stgErrorGetNumMessages(const StgError *error);
STG_C_EXPORT StgMessage stgErrorGetMessage(const StgError *error, size_t index);
/** All messages as lines, as tools print them, with a zero at the end. */
STG_C_EXPORT const char *stgErrorGetText(const StgError *error);
/** True if nothing is wrong, but the caller stopped the call. */
STG_C_EXPORT bool stgErrorIsInterruption(const StgError *error);
STG_C_EXPORT void stgErrorDestroy(StgError *error);

/** The version of the library, such as "0.1.0". */
STG_C_EXPORT const char *stgGetVersion(void);

#ifdef __cplusplus
}
#endif

#endif /* STG_C_SUPPORT_H */
