// An operator's descriptor from its own types: slots and parameters are bound to members of its Args, so that
// arguments, checks, texts and defaults follow from one statement.
//
//   static const OperatorDescriptor op = describe<ScaleArgs>({
//       .name = "scale",
//       .slots = {in("x", &ScaleArgs::x, {.dtypes = {DType::f32}, .dense = true}),
//                 out("y", &ScaleArgs::y, {.dtype_of = "x", .shape_of = "x", .dense = true, .may_alias = "x"})},
//       .params = {param("alpha", &ScaleArgs::alpha, {.doc = "the factor"})},
//       .choose = choose,
//       .rungs = {{.rung = scale_rungs::serial, .idea = "One loop."}}});
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "rooftile/core/detail/quick_slot_check.h"
#include "rooftile/core/enum_list.h"
#include "rooftile/core/enum_names.h"
#include "rooftile/core/operator.h"

namespace rooftile {

// What a slot asks of its tensor; see TensorSlot.
struct SlotRules {
  DTypeSet dtypes{};
  std::string dtype_of{};
  std::string shape_of{};
  int min_rank = 0;
  int max_rank = kMaxRank;
  bool dense = false;
  bool optional = false;
  bool free_ones = false;
  std::string may_alias{};
  std::string doc{};
};

// A slot of an operator with these Args.
template <class Args>
struct Slot {
  TensorSlot slot;
};

namespace detail {
template <class Args, class View>
Slot<Args> bind_slot(std::string name, SlotDirection direction, View Args::*member, SlotRules rules) {
  return {
      {.name = std::move(name),
       .direction = direction,
       .min_rank = rules.min_rank,
       .max_rank = rules.max_rank,
       .dtypes = rules.dtypes,
       .dtype_of = std::move(rules.dtype_of),
       .shape_of = std::move(rules.shape_of),
       .may_alias = std::move(rules.may_alias),
       .dense = rules.dense,
       .optional = rules.optional,
       .free_ones = rules.free_ones,
       .doc = std::move(rules.doc),
       .view = [member](ArgsRef args) -> ConstTensorView { return args.as<Args>().*member; },
       .set = [member](void* args, const TensorView& view) { static_cast<Args*>(args)->*member = view; }}};
}
}  // namespace detail

template <class Args>
Slot<Args> in(std::string name, ConstTensorView Args::*member, SlotRules rules) {
  return detail::bind_slot(std::move(name), SlotDirection::in, member, std::move(rules));
}
template <class Args>
Slot<Args> out(std::string name, TensorView Args::*member, SlotRules rules) {
  return detail::bind_slot(std::move(name), SlotDirection::out, member, std::move(rules));
}
// An output whose shape, or dtype where it may have several, its slots' dtype_of and shape_of do not say. `spec` may
// rely on the inputs and parameters being what they must be by themselves. It fills in a TensorSpec{}: every call asks it.
template <class Args>
Slot<Args> out(std::string name, TensorView Args::*member, Status (*spec)(const Args&, TensorSpec&),
               SlotRules rules) {
  Slot<Args> slot = detail::bind_slot(std::move(name), SlotDirection::out, member, std::move(rules));
  slot.slot.spec = [spec](ArgsRef args, TensorSpec& result) { return spec(args.as<Args>(), result); };
  return slot;
}
template <class Args>
Slot<Args> inout(std::string name, TensorView Args::*member, SlotRules rules) {
  return detail::bind_slot(std::move(name), SlotDirection::inout, member, std::move(rules));
}

// What a parameter may be; see ParamSpec. Its type and default are those of the member.
struct ParamRules {
  std::string doc{};
  double minimum = 0;
  double maximum = -1;
  std::string none = "none";  // of an optional member: the word for no value
};

template <class Args>
struct Param {
  ParamSpec spec;
  std::function<void(Args&, const ParamValue&)> set;  // null: of cases alone, as are get and valid
  std::function<ParamValue(const Args&)> get;
  // Whether a value is within the spec's limits; the text of why not is made from get(). Null: every value is.
  std::function<bool(const Args&, const ParamSpec&)> valid;
};

namespace detail {

// NaN is outside.
template <class T>
bool in_range(T value, double minimum, double maximum) {
  return minimum > maximum ||
         (static_cast<double>(value) >= minimum && static_cast<double>(value) <= maximum);
}

template <class T>
struct ParamCodec {  // numbers, flags and enums
  static constexpr bool kOptional = false;
  static constexpr std::size_t kMostChoices = 1;
  static constexpr ParamType kType = std::is_same_v<T, bool>       ? ParamType::boolean
                                     : std::is_same_v<T, DType>    ? ParamType::dtype
                                     : std::is_enum_v<T>           ? ParamType::text
                                     : std::is_floating_point_v<T> ? ParamType::real
                                                                   : ParamType::integer;
  static ParamValue encode(const T& value, const std::string&) {
    if constexpr (std::is_same_v<T, bool> || std::is_same_v<T, DType>) {
      return value;
    } else if constexpr (std::is_enum_v<T>) {
      const std::string_view name = enum_name(value);
      return name.empty() ? std::to_string(static_cast<std::int64_t>(value)) : std::string(name);
    } else if constexpr (std::is_floating_point_v<T>) {
      return static_cast<double>(value);
    } else {
      static_assert(std::is_integral_v<T>, "not a parameter's type");
      return static_cast<std::int64_t>(value);
    }
  }
  static T decode(const ParamValue& value) {
    if constexpr (std::is_same_v<T, bool> || std::is_same_v<T, DType>) {
      return std::get<T>(value);
    } else if constexpr (std::is_enum_v<T>) {
      return enum_value<T>(std::get<std::string>(value));
    } else if constexpr (std::is_floating_point_v<T>) {
      return static_cast<T>(std::get<double>(value));
    } else {
      return static_cast<T>(std::get<std::int64_t>(value));
    }
  }
  // An enum's value without a name is one that was cast from another number.
  static bool valid(const T& value, double minimum, double maximum) {
    if constexpr (std::is_same_v<T, DType>) {
      return size_of(value) > 0;
    } else if constexpr (std::is_enum_v<T>) {
      return !enum_name(value).empty();
    } else {
      return in_range(value, minimum, maximum);
    }
  }
  static std::vector<std::string> choices() {
    if constexpr (std::is_enum_v<T> && !std::is_same_v<T, DType>) {
      static_assert(!kEnumNames<T>.back().empty(), "kEnumNames has fewer names than places");
      return {kEnumNames<T>.begin(), kEnumNames<T>.end()};
    } else {
      return {};
    }
  }
};

template <class T>
struct ParamCodec<std::optional<T>> {
  static constexpr bool kOptional = true;
  static constexpr std::size_t kMostChoices = 1;
  static constexpr ParamType kType = ParamCodec<T>::kType;
  static ParamValue encode(const std::optional<T>& value, const std::string& none) {
    return value ? ParamCodec<T>::encode(*value, none) : ParamValue(NoValue{none});
  }
  static std::optional<T> decode(const ParamValue& value) {
    if (std::holds_alternative<NoValue>(value)) return std::nullopt;
    return ParamCodec<T>::decode(value);
  }
  static bool valid(const std::optional<T>& value, double minimum, double maximum) {
    return !value || ParamCodec<T>::valid(*value, minimum, maximum);
  }
  static std::vector<std::string> choices() { return ParamCodec<T>::choices(); }
};

template <>
struct ParamCodec<Extents> {  // a list of integers, up to kMaxRank; an empty one is no value
  static constexpr bool kOptional = true;
  static constexpr std::size_t kMostChoices = 1;
  static constexpr ParamType kType = ParamType::integers;
  static ParamValue encode(const Extents& value, const std::string& none) {
    if (value.empty()) return NoValue{none};
    return std::vector<std::int64_t>(value.begin(), value.end());
  }
  static Extents decode(const ParamValue& value) {
    if (std::holds_alternative<NoValue>(value)) return {};
    return Extents(std::get<std::vector<std::int64_t>>(value));
  }
  static bool valid(const Extents& value, double minimum, double maximum) {
    if (value.fault() != ShapeFault::none) return false;
    for (const std::int64_t entry : value) {
      if (!in_range(entry, minimum, maximum)) return false;
    }
    return true;
  }
  static std::vector<std::string> choices() { return {}; }
};

template <class E, std::size_t kMost>
struct ParamCodec<EnumList<E, kMost>> {  // names, divided by commas; at least one
  static constexpr bool kOptional = false;
  static constexpr std::size_t kMostChoices = kMost;
  static constexpr ParamType kType = ParamType::text;
  static ParamValue encode(const EnumList<E, kMost>& list, const std::string& none) {
    std::string text;
    for (const E value : list)
      text += (text.empty() ? "" : ",") + std::get<std::string>(ParamCodec<E>::encode(value, none));
    return list.valid() ? text : text + ",...";
  }
  static EnumList<E, kMost> decode(const ParamValue& value) {
    EnumList<E, kMost> list;
    std::string_view text = std::get<std::string>(value);
    while (!text.empty()) {
      const std::size_t comma = text.find(',');
      list.push_back(enum_value<E>(text.substr(0, comma)));
      text = comma == std::string_view::npos ? std::string_view() : text.substr(comma + 1);
    }
    return list;
  }
  static bool valid(const EnumList<E, kMost>& list, double, double) {
    if (!list.valid() || list.empty()) return false;
    for (const E value : list)
      if (enum_name(value).empty()) return false;
    return true;
  }
  static std::vector<std::string> choices() { return ParamCodec<E>::choices(); }
};

}  // namespace detail

namespace detail {
// Null where every value is valid.
template <class Args, class T>
std::function<bool(const Args&, const ParamSpec&)> validity(T Args::*member) {
  if constexpr (std::is_same_v<T, bool>) {
    return {};
  } else {
    return [member](const Args& args, const ParamSpec& limits) {
      return ParamCodec<T>::valid(args.*member, limits.minimum, limits.maximum);
    };
  }
}
}  // namespace detail

template <class Args, class T>
Param<Args> param(std::string name, T Args::*member, ParamRules rules) {
  using Codec = detail::ParamCodec<T>;
  const std::string none = Codec::kOptional ? rules.none : std::string();
  return {.spec = {.name = std::move(name),
                   .default_value = Codec::encode(Args().*member, none),
                   .doc = std::move(rules.doc),
                   .choices = Codec::choices(),
                   .most_choices = Codec::kMostChoices,
                   .minimum = rules.minimum,
                   .maximum = rules.maximum,
                   .none = none,
                   .type = Codec::kType},
          .set = [member](Args& args, const ParamValue& value) { args.*member = Codec::decode(value); },
          .get = [member, none](const Args& args) { return Codec::encode(args.*member, none); },
          .valid = detail::validity(member)};
}

// A number that a case's inputs are drawn by, such as the share of elements that are chosen: the lab takes it as it takes
// parameters, a call knows nothing of it. Default: none.
template <class Args>
Param<Args> case_param(std::string name, ParamRules rules) {
  return {.spec = {.name = std::move(name),
                   .default_value = NoValue{rules.none},
                   .doc = std::move(rules.doc),
                   .minimum = rules.minimum,
                   .maximum = rules.maximum,
                   .none = rules.none,
                   .type = ParamType::real,
                   .of_cases = true},
          .set = {},
          .get = {},
          .valid = {}};
}

template <class Args>
struct Rung {
  RungFunctions<Args> rung;  // from the generated rungs.h
  std::string idea;
  std::string change{};
  std::string source{};
  Determinism determinism = Determinism::run_to_run;
  std::string_view (*supports)(const Args&, const DeviceProperties&) = nullptr;
  RungPlan (*plan)(const Args&, const DeviceProperties&) = nullptr;
  std::vector<AccessExpectation> expects{};
  std::string wrong_on_purpose{};
};

template <class Args>
struct OperatorSpec {
  std::string name;
  std::string summary;
  std::string maths;
  std::string model;
  std::string source;
  std::vector<Slot<Args>> slots;
  std::vector<Param<Args>> params{};
  // What the slots and parameters do not say; called after all of theirs holds.
  Status (*check)(const Args&) = nullptr;
  std::string_view (*choose)(const Args&, const DeviceProperties&) = nullptr;
  std::string (*explain)(const Args&,
                         const DeviceProperties&) = nullptr;  // of a choice by a model: its reasoning
  std::vector<Rung<Args>> rungs;
};

namespace detail {

// Typed functions as the registry stores them.
template <class Args>
LaunchFn erase_launch(LaunchFunction<Args> function) {
  if (function == nullptr) return {};
  return [function](const AnyCall& call) {
    return function({call.stream, *call.device, call.args.as<Args>(), call.workspace, *call.plan});
  };
}
template <class Args, class T>
std::function<T(ArgsRef, const DeviceProperties&)> erase_query(T (*function)(const Args&,
                                                                             const DeviceProperties&)) {
  if (function == nullptr) return {};
  return
      [function](ArgsRef args, const DeviceProperties& device) { return function(args.as<Args>(), device); };
}

template <class Args>
RungRow erase_rung(const Rung<Args>& rung) {
  return {.id = std::string(rung.rung.name),
          .kind = rung.rung.kind,
          .absent = rung.rung.absent,
          .idea = rung.idea,
          .change = rung.change,
          .source = rung.source,
          .arch = rung.rung.arch,
          .determinism = rung.determinism,
          .supports = erase_query(rung.supports),
          .plan = erase_query(rung.plan),
          .launch = {.cuda = erase_launch(rung.rung.cuda),
                     .sim = erase_launch(rung.rung.sim),
                     .cpu = erase_launch(rung.rung.cpu),
                     .checked = erase_launch(rung.rung.checked)},
          .expects = rung.expects,
          .wrong_on_purpose = rung.wrong_on_purpose};
}

// What the slots say of a call: views, dtypes, ranks, shapes, layouts, the device, overlap.
[[nodiscard]] Status check_slots(const std::vector<TensorSlot>& slots, const SlotViews& views, Device device,
                                 CallStage stage);
// What `spec` says of the outputs of a call that has them.
[[nodiscard]] Status check_outputs(const std::vector<TensorSlot>& slots, const SlotViews& views,
                                   ArgsRef args);
// The spec of an output by its slots' dtype_of and shape_of.
[[nodiscard]] Status spec_from_slots(const std::vector<TensorSlot>& slots, std::size_t output, ArgsRef args,
                                     TensorSpec& spec);
[[nodiscard]] Status invalid_param(const ParamSpec& spec, const ParamValue& value);
[[nodiscard]] Status check_counts(const std::vector<TensorSlot>& slots, std::size_t tensors);
// The device of the first tensor that is there.
[[nodiscard]] Device device_of(std::span<const TensorView> tensors);
// Sets views without memory for the inputs' specs.
[[nodiscard]] Status set_inputs(const std::vector<TensorSlot>& slots, std::span<const TensorSpec> inputs,
                                void* args);
[[nodiscard]] Result<std::vector<TensorSpec>> output_specs(const std::vector<TensorSlot>& slots,
                                                           ArgsRef args);

template <class Args>
KeptArgs kept_args() {
  constexpr bool kFits = sizeof(Args) <= KeptArgs::kBytes && alignof(Args) <= alignof(std::max_align_t);
  if constexpr (kFits && std::is_trivially_copyable_v<Args> && std::equality_comparable<Args>) {
    return {.copy = [](ArgsRef args, void* kept) { ::new (kept) Args(args.as<Args>()); },
            .equal =
                [](ArgsRef args, const void* kept) {
                  return args.as<Args>() == *std::launder(static_cast<const Args*>(kept));
                }};
  } else {
    return {};
  }
}

template <class Args>
Status check_params(const std::vector<Param<Args>>& params, const Args& args) {
  for (const Param<Args>& param : params) {
    if (param.valid && !param.valid(args, param.spec)) return invalid_param(param.spec, param.get(args));
  }
  return {};
}

}  // namespace detail

template <class Args>
OperatorDescriptor describe(OperatorSpec<Args> spec) {
  OperatorDescriptor op;
  op.kept_args = detail::kept_args<Args>();
  op.name = std::move(spec.name);
  op.summary = std::move(spec.summary);
  op.maths = std::move(spec.maths);
  op.model = std::move(spec.model);
  op.source = std::move(spec.source);
  for (Slot<Args>& slot : spec.slots) op.slots.push_back(std::move(slot.slot));
  for (TensorSlot& slot : op.slots) {
    if (const TensorSlot* like = op.find_slot(slot.dtype_of); like != nullptr) slot.dtypes = like->dtypes;
  }
  for (std::size_t i = 0; i < op.slots.size(); ++i) {
    if (op.slots[i].direction == SlotDirection::out && !op.slots[i].spec) {
      op.slots[i].spec = [slots = op.slots, i](ArgsRef args, TensorSpec& result) {
        return detail::spec_from_slots(slots, i, args, result);
      };
    }
  }
  for (const Param<Args>& param : spec.params) op.params.push_back(param.spec);
  std::erase_if(spec.params,
                [](const Param<Args>& param) { return !param.set; });  // what is left is of calls
  for (const Rung<Args>& rung : spec.rungs) op.rungs.push_back(detail::erase_rung(rung));
  op.choose = detail::erase_query(spec.choose);
  op.explain = detail::erase_query(spec.explain);

  op.is_ordinary = [quick = detail::QuickSlotCheck(op.slots)](const SlotViews& views, Device device) {
    return quick.surely_holds(views, device);
  };
  op.check = [slots = op.slots, params = spec.params, own = spec.check](
                 ArgsRef args, const SlotViews& views, Device device, CallStage stage) -> Status {
    if (stage != CallStage::ordinary) ROOFTILE_TRY(detail::check_slots(slots, views, device, stage));
    ROOFTILE_TRY(detail::check_params(params, args.as<Args>()));
    if (stage == CallStage::inputs_only) return {};
    ROOFTILE_TRY(detail::check_outputs(slots, views, args));
    return own == nullptr ? Status() : own(args.as<Args>());
  };
  op.describe = [slots = op.slots, params = spec.params](ArgsRef args) {
    std::string text;
    const auto add = [&text](const std::string& part) { text += (text.empty() ? "" : ", ") + part; };
    for (const TensorSlot& slot : slots) {
      if (const ConstTensorView view = slot.view(args); !is_absent(view))
        add(slot.name + " " + view.to_string());
    }
    for (const Param<Args>& param : params)
      add(param.spec.name + "=" + to_string(param.get(args.as<Args>())));
    return text;
  };
  op.make_args = [check = op.check, describe = op.describe, slots = op.slots, params = spec.params](
                     std::span<const TensorView> tensors, const Params& values) -> Result<AnyArgs> {
    ROOFTILE_TRY(detail::check_counts(slots, tensors.size()));
    Args args;
    for (std::size_t i = 0; i < slots.size(); ++i) slots[i].set(&args, tensors[i]);
    for (const Param<Args>& param : params) param.set(args, values.at(param.spec.name));
    const ArgsRef call = ArgsRef::of(args);
    const Status status =
        check(call, SlotViews(slots, call), detail::device_of(tensors), CallStage::complete);
    if (!status.ok()) return status.with_shapes(describe(call));
    return AnyArgs::of(std::move(args));
  };
  op.infer_outputs = [slots = op.slots, params = spec.params](
                         std::span<const TensorSpec> inputs,
                         const Params& values) -> Result<std::vector<TensorSpec>> {
    Args args;
    ROOFTILE_TRY(detail::set_inputs(slots, inputs, &args));
    for (const Param<Args>& param : params) param.set(args, values.at(param.spec.name));
    return detail::output_specs(slots, ArgsRef::of(args));
  };
  op.with_tensors = [slots = op.slots](ArgsRef args, std::span<const TensorView> tensors) {
    Args copy = args.as<Args>();
    for (std::size_t i = 0; i < slots.size(); ++i) slots[i].set(&copy, tensors[i]);
    return AnyArgs::of(std::move(copy));
  };
  return op;
}

// A peer's row from its typed functions, of one that runs on cuda.
template <class Args>
PeerRow describe_peer(std::string operator_name, std::string id, std::string version,
                      LaunchFunction<Args> launch,
                      std::string_view (*supports)(const Args&, const DeviceProperties&) = nullptr,
                      RungPlan (*plan)(const Args&, const DeviceProperties&) = nullptr) {
  return {.operator_name = std::move(operator_name),
          .id = std::move(id),
          .version = std::move(version),
          .supports = detail::erase_query(supports),
          .plan = detail::erase_query(plan),
          .launch = detail::erase_launch(launch)};
}

}  // namespace rooftile
