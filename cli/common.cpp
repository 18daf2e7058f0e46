#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <fstream>
#include <sstream>

#include "cli/commands.h"
#include "cli/output_files.h"
#include "rooftile/lab/base/write_file.h"

namespace rooftile::cli {
namespace {

int code_of(const Status& status) {
  switch (status.code()) {
    case StatusCode::ok:
      return kDone;
    case StatusCode::invalid_argument:
    case StatusCode::unsupported:
    case StatusCode::io_error:
      return kWrongCall;
    case StatusCode::unavailable:
    case StatusCode::out_of_memory:
      return kNotPossible;
    case StatusCode::device_error:
    case StatusCode::check_failed:
    case StatusCode::internal:
      return kCheckFailed;
  }
  return kCheckFailed;
}

std::vector<std::string> split_at_commas(const std::string& text) {
  std::vector<std::string> parts;
  std::size_t at = 0;
  while (true) {
    const std::size_t comma = text.find(',', at);
    parts.push_back(text.substr(at, comma - at));
    if (comma == std::string::npos) return parts;
    at = comma + 1;
  }
}

template <class Integer>
Result<Integer> parse_integer(const std::string& text, const char* option, const char* range) {
  Integer value{};
  const char* last = text.data() + text.size();
  const auto [end, error] = std::from_chars(text.data(), last, value);
  if (error == std::errc() && end == last) return value;
  return invalid_argument(fmt::format("{} '{}' is not {}", option, text, range));
}

}  // namespace

int report(int code, const std::string& line) {
  std::string clean = line;
  // Whatever was typed: one line, and nothing that a terminal would obey.
  std::replace_if(
      clean.begin(), clean.end(), [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; },
      ' ');
  fmt::print(stderr, "rooftile: {}\n", clean);
  return code;
}

int report(const Status& status) { return report(code_of(status), status.sentence()); }

const std::vector<lab::PeerLibrary>& Session::peers() {
  if (!peers_) peers_ = lab::load_peers(registry);
  return *peers_;
}

void add_case_options(CLI::App& command, CaseOptions& options) {
  command.add_option("--shape", options.shape, "extents, for example m=8192,n=4096 or n=2^20")
      ->allow_extra_args(false)
      ->type_name("KEY=COUNT,...");
  command.add_option("--dtype", options.dtype, "element type: f32, i32, bf16 ...")->type_name("DTYPE");
  command.add_option("--arg", options.args, "a parameter of the operator; may be repeated")
      ->allow_extra_args(false)
      ->type_name("NAME=VALUE");
  std::vector<std::string_view> fills;
  for (const Fill fill : all_fills()) fills.push_back(to_string(fill));
  command.add_option("--fill", options.fill, fmt::format("{}", fmt::join(fills, ", ")))->type_name("FILL");
  command.add_option("--offset", options.offset, "elements by which every pointer is off its alignment")
      ->type_name("COUNT");
  command.add_option("--seed", options.seed, "of the input generator")->type_name("NUMBER");
  command.add_flag("--in-place", options.in_place, "outputs that may alias an input are that input");
}

Result<NameValues> parse_assignments(const std::vector<std::string>& texts, bool split,
                                     const std::string& option, const std::string& example) {
  NameValues values;
  for (const std::string& text : texts) {
    for (const std::string& part : split ? split_at_commas(text) : std::vector<std::string>{text}) {
      const std::size_t equals = part.find('=');
      if (equals == std::string::npos || equals == 0 || equals + 1 == part.size()) {
        return invalid_argument(fmt::format("{} '{}' does not parse: write {}", option, text, example));
      }
      std::string name = part.substr(0, equals);
      const auto is_it = [&](const auto& value) { return value.first == name; };
      if (std::any_of(values.begin(), values.end(), is_it))
        return invalid_argument(fmt::format("{} {} is given twice", option, name));
      values.emplace_back(std::move(name), part.substr(equals + 1));
    }
  }
  return values;
}

Result<lab::CaseRequest> parse_case_options(const CaseOptions& options) {
  lab::CaseRequest request;
  ROOFTILE_TRY_ASSIGN(request.shape,
                      parse_assignments(options.shape, true, "--shape", "key=count, as in n=2^20"));
  ROOFTILE_TRY_ASSIGN(request.args,
                      parse_assignments(options.args, false, "--arg", "name=value, as in op=max"));
  if (!options.dtype.empty()) {
    ROOFTILE_TRY_ASSIGN(request.dtype, parse_dtype(options.dtype));
  }
  if (!options.fill.empty()) {
    ROOFTILE_TRY_ASSIGN(request.fill, parse_fill(options.fill));
  }
  if (!options.offset.empty()) {
    ROOFTILE_TRY_ASSIGN(request.offset,
                        parse_integer<int>(options.offset, "--offset", "a count of elements"));
  }
  if (!options.seed.empty()) {
    ROOFTILE_TRY_ASSIGN(request.seed,
                        parse_integer<std::uint64_t>(options.seed, "--seed", "a number from 0 to 2^64-1"));
  }
  if (options.in_place) request.in_place = true;
  return request;
}

Result<Device> usable_device(const std::string& text) {
  ROOFTILE_TRY_ASSIGN(const Device device, parse_device(text));
  if (device.kind != DeviceKind::cuda) return device;
  if (const Status gpu = cuda_availability(); !gpu.ok()) {
    return unavailable(fmt::format("--device {} is not usable here: {}; --device cpu and --device sim are",
                                   text, gpu.sentence()));
  }
  if (device.index >= cuda_device_count()) {
    return unavailable(fmt::format("--device {} is not here: this machine has {} usable GPU{}, from cuda:0",
                                   text, cuda_device_count(), cuda_device_count() == 1 ? "" : "s"));
  }
  return device;
}

std::vector<std::string> parse_rungs(const std::vector<std::string>& texts, const std::string& op) {
  std::vector<std::string> rungs;
  for (const std::string& text : texts) {
    for (std::string& rung : split_at_commas(text)) {
      if (rung.starts_with(op + "/")) rung.erase(0, op.size() + 1);
      rungs.push_back(std::move(rung));
    }
  }
  return rungs;
}

Result<std::string> read_text(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  if (!file) return io_error(fmt::format("cannot read {}", path));
  return text.str();
}

Status write_text(const std::string& path, const std::string& text) {
  if (path != "-") return lab::write_file(target_of(path), text);
  (void)std::fwrite(text.data(), 1, text.size(), stdout);  // main() looks at stdout, for all that is printed
  return {};
}

}  // namespace rooftile::cli
