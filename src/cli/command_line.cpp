#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <map>
#include <optional>
#include <string_view>
#include <thread>
#include <utility>

#include "src/cli/options.h"
#include "src/run/device_choice.h"
#include "src/spec/nearest.h"
#include "src/version.h"

namespace flashcheck {
namespace {

constexpr const char* kExamples =
    "Examples:\n"
    "  flashcheck run cases/*.json          judge calls: messages, hazards, numbers\n"
    "  flashcheck check my-call.json        the static half: no kernel runs\n"
    "  flashcheck map my-call.json          where each key lives, and what each row sees\n"
    "  flashcheck lint my-tests.json        which faults these tests could not show\n"
    "  flashcheck layouts vllm-packed       an engine's KV cache, as strides\n"
    "  flashcheck explain FC-E203           a rule's page, offline\n"
    "  flashcheck explain \"<message>\"       which rule says that, and with which numbers\n"
    "\n"
    "Exit status: 0 as expected, 1 not, 2 wrong usage, 3 a file is no case, 4 nothing ran,\n"
    "5 a demanded capability is missing, 70 a fault of flashcheck itself.";

const std::map<std::string, Format> kFormats{
    {"text", Format::kText}, {"jsonl", Format::kJsonl}, {"junit", Format::kJunit}};
const std::map<std::string, ColorMode> kColorModes{
    {"auto", ColorMode::kAuto}, {"always", ColorMode::kAlways}, {"never", ColorMode::kNever}};

template <typename T>
std::string names_of(const std::map<std::string, T>& values) {
  std::string names;
  for (const auto& [name, value] : values) names += (names.empty() ? "" : ", ") + name;
  return names;
}

template <typename T>
T value_of(const std::map<std::string, T>& values, const std::string& option,
           const std::string& name) {
  const auto found = values.find(name);
  if (found != values.end()) return found->second;
  throw CLI::ValidationError(option,
                             fmt::format("expected one of {}, got {}", names_of(values), name));
}

/// "FORMAT:PATH".
OutputTarget parse_output(const std::string& text) {
  const size_t colon = text.find(':');
  if (colon == std::string::npos || colon + 1 == text.size()) {
    throw CLI::ValidationError("--output", fmt::format("expected FORMAT:PATH, got {}", text));
  }
  return {value_of(kFormats, "--output", text.substr(0, colon)), text.substr(colon + 1)};
}

/// "4GiB", "512MiB", "1000000".
int64_t parse_size(const std::string& text) {
  const std::map<std::string, int64_t> units{
      {"", 1}, {"KiB", int64_t{1} << 10}, {"MiB", int64_t{1} << 20}, {"GiB", int64_t{1} << 30}};
  const size_t end = std::min(text.find_first_not_of("0123456789"), text.size());
  const auto unit = units.find(text.substr(end));
  if (end == 0 || end > 9 || unit == units.end()) {
    throw CLI::ValidationError("--max-memory",
                               fmt::format("expected a number and KiB, MiB or GiB, got {}", text));
  }
  return std::stoll(text.substr(0, end)) * unit->second;
}

/// What CLI11 fills before it is checked and turned into RunOptions.
struct RawRun {
  std::string format = "text", color = "auto", max_memory = "4GiB";
  std::vector<std::string> outputs;
  double max_work = 2e10;
};

void add_selection(CLI::App& command, std::vector<std::string>& paths,
                   std::vector<std::string>& filters) {
  command.add_option("FILES", paths, "case files, directories of them, or - for stdin")->required();
  command.add_option("-k,--filter", filters, "only cases whose id fits this glob")
      ->type_name("GLOB");
}

void add_run_options(CLI::App& command, RunOptions& options, RawRun& raw) {
  add_selection(command, options.paths, options.filters);
  command.add_flag("--list", options.list, "print the ids of the selected cases and stop");
  command.add_option("--format", raw.format, "text, jsonl or junit, on stdout")
      ->type_name("FORMAT");
  command.add_option("--output", raw.outputs, "a further report, such as junit:report.xml")
      ->type_name("FORMAT:PATH");
  command.add_option("-j,--jobs", options.jobs, "cases at a time (default: the machine's threads)")
      ->type_name("N")
      ->check(CLI::Range(1, 1024));
  command.add_flag("-v,--verbose", options.verbose, "passing and skipped cases too");
  command.add_option("--color", raw.color, "auto, always or never; NO_COLOR is heeded")
      ->type_name("WHEN");
  command.add_flag("--allow-empty", options.allow_empty, "status 0 even if nothing ran");
}

void add_kernel_options(CLI::App& command, RunOptions& options, RawRun& raw) {
  command
      .add_option("--device", options.device,
                  "cpu (default), cuda, cuda:N or auto: where kernel and reference run")
      ->type_name("DEVICE");
  command.add_option("--require", options.required, "status 5 unless this device can run here")
      ->type_name("DEVICE");
  command.add_option("--max-memory", raw.max_memory, "skip a case that needs more (default 4GiB)")
      ->type_name("SIZE");
  command
      .add_option("--max-work", raw.max_work, "skip a case of more multiply-adds (default 2e10)")
      ->type_name("N")
      ->check(CLI::Range(0.0, 9e18));
}

void finish(const RawRun& raw, RunOptions& options) {
  options.outputs.push_back({.format = value_of(kFormats, "--format", raw.format)});
  for (const std::string& output : raw.outputs) options.outputs.push_back(parse_output(output));
  if (options.device != "auto" && !parse_device_choice(options.device)) {
    throw CLI::ValidationError(
        "--device", fmt::format("expected cpu, cuda, cuda:N or auto, got {}", options.device));
  }
  options.color = value_of(kColorModes, "--color", raw.color);
  options.max_memory_bytes = parse_size(raw.max_memory);
  options.max_work = static_cast<int64_t>(raw.max_work);
}

/// The option or command that a mistyped word is nearest to.
std::string hint_for(const CLI::App& app, const std::string& word) {
  std::vector<std::string> known;
  const CLI::App* command = app.get_subcommands().empty() ? &app : app.get_subcommands().front();
  for (const CLI::Option* option : command->get_options()) {
    for (const std::string& name : option->get_lnames()) known.push_back("--" + name);
  }
  for (const CLI::App* sub : app.get_subcommands([](const CLI::App*) { return true; })) {
    known.push_back(sub->get_name());
  }
  const std::optional<std::string> near = nearest(word, known);
  return near ? fmt::format("; did you mean {}?", *near) : "";
}

CommandLine usage_error(const CLI::App& app, const CLI::ParseError& error, int argc,
                        const char* const* argv) {
  std::string text = error.what();
  if (dynamic_cast<const CLI::ExtrasError*>(&error)) {
    const auto rest = app.get_subcommands().empty() ? app.remaining()
                                                    : app.get_subcommands().front()->remaining();
    if (!rest.empty()) text = "unknown: " + rest.front() + hint_for(app, rest.front());
  } else if (argc <= 1) {
    text = "expected a command, such as run, check or explain";
  } else if (app.get_subcommands().empty()) {
    const std::string word = argv[1];
    const bool is_file = word.ends_with(".json") || word.ends_with(".jsonl");
    text = fmt::format("expected a command, got {}{}", word,
                       is_file ? "; did you mean run " + word + "?" : hint_for(app, word));
  }
  const std::string command =
      app.get_subcommands().empty() ? "" : " " + app.get_subcommands().front()->get_name();
  return {.text = fmt::format("flashcheck: {}\nTry `flashcheck{} --help`.\n", text, command),
          .status = ExitStatus::kUsage};
}

}  // namespace

CommandLine parse_command_line(int argc, const char* const* argv) {
  CommandLine line;
  RawRun raw;
  line.run.jobs = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));

  CLI::App app{"Says what candle's flash-attn does to a call, and whether the numbers are right",
               "flashcheck"};
  app.footer(kExamples);
  app.require_subcommand(1);
  app.set_version_flag("--version", fmt::format("flashcheck {} (candle-flash-attn at {})", kVersion,
                                                kCandleRevision));
  CLI::App* run = app.add_subcommand("run", "judge the calls of case files, numbers included");
  CLI::App* check =
      app.add_subcommand("check", "judge the calls of case files without running a kernel");
  CLI::App* map = app.add_subcommand("map", "draw where keys live, who shares, and what rows see");
  CLI::App* lint = app.add_subcommand("lint", "name the faults that tests could not have shown");
  CLI::App* layouts = app.add_subcommand("layouts", "list engines' KV-cache layouts, as strides");
  CLI::App* backends = app.add_subcommand("backends", "list what kernels can run on, here");
  CLI::App* explain = app.add_subcommand("explain", "print the page of a rule");
  CLI::App* rules = app.add_subcommand("rules", "list every rule");
  add_run_options(*run, line.run, raw);
  add_kernel_options(*run, line.run, raw);
  add_run_options(*check, line.run, raw);
  add_selection(*map, line.map.paths, line.map.filters);
  map->add_flag("--all", line.map.all, "everything, however many sequences and pages there are");
  add_selection(*lint, line.lint.paths, line.lint.filters);
  lint->add_flag("--together", line.lint.together, "judge all files as one suite");
  lint->add_flag("--strict", line.lint.strict, "status 1 if there is such a fault");
  CLI::Option* layout_names =
      layouts->add_option("NAME", line.layouts.names, "show these alone, with an example");
  layouts
      ->add_option("--tables", line.layouts.tables,
                   "the page tables of these case files, in every form")
      ->type_name("FILES")
      ->excludes(layout_names);
  explain
      ->add_option("RULE", line.explain.subjects, "a code, a name, or a message as it was printed")
      ->required();
  rules->add_flag("--markdown", line.rules.markdown, "the whole of docs/rules.md");

  try {
    app.parse(argc, argv);
    if (run->parsed() || check->parsed()) {
      line.run.run_kernel = run->parsed();
      finish(raw, line.run);
      line.command = CommandLine::Command::kRun;
    } else if (map->parsed()) {
      line.command = CommandLine::Command::kMap;
    } else if (lint->parsed()) {
      line.command = CommandLine::Command::kLint;
    } else if (layouts->parsed()) {
      line.command = CommandLine::Command::kLayouts;
    } else if (backends->parsed()) {
      line.command = CommandLine::Command::kBackends;
    } else {
      line.command =
          explain->parsed() ? CommandLine::Command::kExplain : CommandLine::Command::kRules;
    }
    return line;
  } catch (const CLI::CallForHelp&) {
    if (app.get_subcommands().empty()) return {.text = app.help()};
    return {.text = app.get_subcommands().front()->help("flashcheck")};
  } catch (const CLI::CallForVersion& version) {
    return {.text = std::string(version.what()) + "\n"};
  } catch (const CLI::ParseError& error) {
    return usage_error(app, error, argc, argv);
  }
}

}  // namespace flashcheck
