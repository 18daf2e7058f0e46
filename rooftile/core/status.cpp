#include "rooftile/core/status.h"

namespace rooftile {

struct Status::Detail {
  StatusCode code = StatusCode::internal;
  std::string operator_name;
  std::string rule;
  std::string shapes;
  std::source_location where;
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

Status Status::error(StatusCode code, std::string rule, std::source_location where) {
  Status status;
  status.detail_ = std::make_shared<const Detail>(
      Detail{code == StatusCode::ok ? StatusCode::internal : code, "", std::move(rule), "", where});
  return status;
}

StatusCode Status::code() const { return ok() ? StatusCode::ok : detail_->code; }
const std::string& Status::operator_name() const { return ok() ? kEmpty : detail_->operator_name; }
const std::string& Status::rule() const { return ok() ? kEmpty : detail_->rule; }
const std::string& Status::shapes() const { return ok() ? kEmpty : detail_->shapes; }
std::source_location Status::where() const { return ok() ? std::source_location{} : detail_->where; }

Status Status::with_operator(std::string_view name) const {
  if (ok() || !detail_->operator_name.empty()) return *this;
  Detail detail = *detail_;
  detail.operator_name = name;
  Status status;
  status.detail_ = std::make_shared<const Detail>(std::move(detail));
  return status;
}

Status Status::with_shapes(std::string_view shapes) const {
  if (ok() || !detail_->shapes.empty()) return *this;
  Detail detail = *detail_;
  detail.shapes = shapes;
  Status status;
  status.detail_ = std::make_shared<const Detail>(std::move(detail));
  return status;
}

std::string Status::message() const {
  if (ok()) return "ok";
  std::string text;
  if (!detail_->operator_name.empty()) text += detail_->operator_name + ": ";
  text += detail_->rule;
  if (!detail_->shapes.empty()) text += " (" + detail_->shapes + ")";
  return text;
}

Status invalid_argument(std::string rule, std::source_location where) {
  return Status::error(StatusCode::invalid_argument, std::move(rule), where);
}
Status unsupported(std::string rule, std::source_location where) {
  return Status::error(StatusCode::unsupported, std::move(rule), where);
}
Status unavailable(std::string rule, std::source_location where) {
  return Status::error(StatusCode::unavailable, std::move(rule), where);
}
Status io_error(std::string rule, std::source_location where) {
  return Status::error(StatusCode::io_error, std::move(rule), where);
}
Status internal_error(std::string rule, std::source_location where) {
  return Status::error(StatusCode::internal, std::move(rule), where);
}

}  // namespace rooftile
