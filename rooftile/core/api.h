// What the public header of an operator stands on: views, Context, workspaces, Status. The descriptor, which the header
// only names, is in core/operator.h.
#pragma once

#include "rooftile/core/context.h"
#include "rooftile/core/status.h"
#include "rooftile/core/stream.h"
#include "rooftile/core/view.h"
#include "rooftile/core/workspace.h"

namespace rooftile {

struct OperatorDescriptor;
class Registry;

}  // namespace rooftile
