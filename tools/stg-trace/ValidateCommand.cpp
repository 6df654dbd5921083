//===- ValidateCommand.cpp - stg-trace validate ---------------------------===//
//
// Checks a trace against the numbered rules.
//
//===----------------------------------------------------------------------===//

#include "Commands.h"

#include "stg/Trace/Validate/TraceValidator.h"

using namespace llvm;

namespace stg::trace {

static cl::SubCommand command("validate",
                              "Check that a trace will run to its end");
static cl::opt<std::string> input(cl::Positional,
                                  cl::desc("<prefix, directory, file or ->"),
                                  cl::sub(command));
static cl::opt<std::string> groupFile(
    "comm-groups", cl::value_desc("file"),
    cl::desc("Communicator groups (default: the file beside the trace)"),
    cl::sub(command));
static cl::opt<bool> asJSON("json", cl::desc("Write JSON instead of lines"),
                            cl::sub(command));
static cl::opt<bool> listRules("list-rules", cl::desc("List the rules"),
                               cl::sub(command));
static cl::opt<double> peakTflops("peak-tflops", cl::init(900),
                                  cl::desc("Peak rate in TFLOPS (900)"),
                                  cl::sub(command));
static cl::opt<double> memBandwidth("mem-bw", cl::init(3350),
                                    cl::desc("Memory bandwidth in GB/s (3350)"),
                                    cl::sub(command));
static cl::opt<uint64_t>
    splits("splits", cl::init(4),
           cl::desc("Pieces that the simulator cuts a collective into (4)"),
           cl::sub(command));
static cl::opt<uint64_t>
    numNpus("npus",
            cl::desc("Number of ranks (default: as files and groups "
                     "say)"),
            cl::sub(command));
static cl::opt<bool> strictMemory(
    "strict-memory",
    cl::desc("Apply rule 8.7 to traces that do not list persistent tensors"),
    cl::sub(command));
static cl::opt<bool>
    eagerSends("eager-sends",
               cl::desc("Leave out rule 6.4: sends never wait for receives"),
               cl::sub(command));
static cl::opt<unsigned>
    maxErrors("max-errors", cl::init(20),
              cl::desc("Violations to show for each rule, 0 for all (20)"),
              cl::sub(command));
static cl::opt<unsigned>
    threads("threads", cl::value_desc("n"),
            cl::desc("Threads to read with (default: one per core)"),
            cl::sub(command));
static cl::opt<bool> quiet("quiet", cl::desc("No progress on a terminal"),
                           cl::sub(command));

cl::SubCommand &getValidateCommand() { return command; }

static Expected<ValidatorOptions> getOptions() {
  auto fail = [](const char *message) {
    return createStringError(inconvertibleErrorCode(), message);
  };
  // Comparisons are written so that NaN fails them.
  if (!(peakTflops > 0))
    return fail("--peak-tflops must be greater than 0");
  if (!(memBandwidth > 0))
    return fail("--mem-bw must be greater than 0");
  if (splits < 1 || splits > UINT32_MAX)
    return fail("--splits must be in 1 ... 4294967295");
  if (numNpus.getNumOccurrences() && (numNpus < 1 || numNpus > INT32_MAX))
    return fail("--npus must be in 1 ... 2147483647");
  ValidatorOptions options;
  options.peakTflops = peakTflops;
  options.memBandwidth = memBandwidth;
  options.splits = splits;
  if (numNpus.getNumOccurrences())
    options.numNpus = numNpus;
  options.strictMemory = strictMemory;
  options.eagerSends = eagerSends;
  options.maxErrors = maxErrors;
  options.threads = threads;
  options.quiet = quiet;
  return options;
}

static Expected<ValidationReport> validate(const ValidatorOptions &options) {
  Expected<TraceInput> trace = openTrace(input, groupFile);
  if (!trace)
    return trace.takeError();
  return validateTrace(*trace, input, options);
}

Expected<bool> runValidate(raw_ostream &os) {
  if (listRules) {
    if (asJSON)
      printRulesJSON(os);
    else
      printRules(os);
    return true;
  }
  Expected<ValidatorOptions> options = getOptions();
  if (!options)
    return options.takeError();
  Expected<ValidationReport> report = validate(*options);
  if (!report)
    return report.takeError();
  if (asJSON)
    printReportJSON(*report, os);
  else
    printReport(*report, os);
  return report->violations.getTotal() == 0;
}

} // namespace stg::trace
