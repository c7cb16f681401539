// Names the op that first computed something which is not a finite number. A look at every result costs a pass over it, so
// it is made in debug builds and where HEARTH_CHECK_FINITE=1 asks for it; without it only the logits are looked at.
#pragma once

#include "backend/resources.h"

namespace hearth {

/// Whether backends that are made now should check.
bool finite_checks_wanted();

/// Looks at what ops[index] wrote. Throws Error{numeric_error} that names the layer, the op and the row.
void check_finite(const Resources& resources, const OpList& ops, size_t index, OpRows rows);

}  // namespace hearth
