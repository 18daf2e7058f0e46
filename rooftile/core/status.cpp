#include "rooftile/core/status.h"

#include <atomic>
#include <new>

namespace rooftile {

struct Status::Detail {
  StatusCode code = StatusCode::internal;
  std::string operator_name;
  std::string rule;
  std::string shapes;
  SourceLocation where;
  mutable std::atomic<int> owners = 1;
};

namespace {
const std::string kEmpty;
}

std::string_view to_string(StatusCode code) {
  switch (code) {
    case StatusCode::ok:
      return "ok";
    case StatusCode::invalid_argument:
      return "invalid argument";
    case StatusCode::unsupported:
      return "unsupported";
    case StatusCode::unavailable:
      return "unavailable";
    case StatusCode::out_of_memory:
      return "out of memory";
    case StatusCode::device_error:
      return "device error";
    case StatusCode::io_error:
      return "i/o error";
    case StatusCode::check_failed:
      return "check failed";
    case StatusCode::internal:
      return "internal error";
  }
  return "unknown status";
}

Status Status::host_out_of_memory() noexcept {
  // Never released: its first owner is this function.
  static const Detail detail{StatusCode::out_of_memory, "", "out of memory", "", {}};
  retain(&detail);
  return Status(&detail);
}

void Status::retain(const Detail* detail) { detail->owners.fetch_add(1, std::memory_order_relaxed); }
void Status::release(const Detail* detail) {
  if (detail->owners.fetch_sub(1, std::memory_order_acq_rel) == 1) delete detail;
}

Status Status::error(StatusCode code, std::string rule, SourceLocation where) {
  const auto* detail = new (std::nothrow)
      Detail{code == StatusCode::ok ? StatusCode::internal : code, "", std::move(rule), "", where};
  return detail != nullptr ? Status(detail) : host_out_of_memory();
}

StatusCode Status::code() const { return ok() ? StatusCode::ok : detail_->code; }
const std::string& Status::operator_name() const { return ok() ? kEmpty : detail_->operator_name; }
const std::string& Status::rule() const { return ok() ? kEmpty : detail_->rule; }
const std::string& Status::shapes() const { return ok() ? kEmpty : detail_->shapes; }
SourceLocation Status::where() const { return ok() ? SourceLocation{} : detail_->where; }

Status Status::with_operator(std::string_view name) const {
  if (ok() || !detail_->operator_name.empty()) return *this;
  return with(name, detail_->shapes, detail_->where);
}

Status Status::with_shapes(std::string_view shapes) const {
  if (ok() || !detail_->shapes.empty()) return *this;
  return with(detail_->operator_name, shapes, detail_->where);
}

Status Status::with_caller(SourceLocation caller) const {
  return ok() ? *this : with(detail_->operator_name, detail_->shapes, caller);
}

Status Status::with(std::string_view operator_name, std::string_view shapes, SourceLocation where) const {
  try {
    return Status(
        new Detail{detail_->code, std::string(operator_name), detail_->rule, std::string(shapes), where});
  } catch (const std::bad_alloc&) {
    return *this;
  }
}

std::string Status::sentence() const {
  if (ok()) return "ok";
  std::string text;
  if (!detail_->operator_name.empty()) text += detail_->operator_name + ": ";
  text += detail_->rule;
  if (!detail_->shapes.empty()) text += " (" + detail_->shapes + ")";
  return text;
}

std::string Status::message() const {
  return ok() ? sentence() : sentence() + " [" + std::string(to_string(code())) + "]";
}

Status invalid_argument(std::string rule, SourceLocation where) {
  return Status::error(StatusCode::invalid_argument, std::move(rule), where);
}
Status unsupported(std::string rule, SourceLocation where) {
  return Status::error(StatusCode::unsupported, std::move(rule), where);
}
Status unavailable(std::string rule, SourceLocation where) {
  return Status::error(StatusCode::unavailable, std::move(rule), where);
}
Status io_error(std::string rule, SourceLocation where) {
  return Status::error(StatusCode::io_error, std::move(rule), where);
}
Status internal_error(std::string rule, SourceLocation where) {
  return Status::error(StatusCode::internal, std::move(rule), where);
}

}  // namespace rooftile
