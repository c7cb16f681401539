// The last step of every reader: ModelInfo, tensor list, warnings, ownership.
#pragma once

#include <string>
#include <vector>

#include "model/binder.h"
#include "model/identity.h"
#include "model/model_file.h"

namespace hearth {

/// Fills info, tensors, files and owner of a model whose spec is read, and warns of tensors that nobody asked for.
void finish_model(const TensorTable& table, Binder& binder, const std::string& path,
                  const std::vector<IdentifiedFile>& files, ModelFile& out);

}  // namespace hearth
