// Any bytes, as a file of models, as a name of one, and as the tools of a request: each is taken or
// refused, and what is taken can be used.
#include <undertext/models.hpp>

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "require.hpp"
#include "tokens/model_table.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size_bytes) {
  using namespace undertext;
  const std::string_view input(reinterpret_cast<const char*>(data), size_bytes);
  const Model named = find_model(input);
  require(named.tokenizer == "estimate" || named.is_known(), "an unknown model is estimated");

  const Result<ToolsCount> tools = count_tools(input, "estimate");
  require(tools || !tools.error().message.empty(), "an error says what is wrong");

  const Result<ModelTable> table = read_model_table(input, model_table());
  require(table || !table.error().message.empty(), "an error says what is wrong");
  if (!table) return 0;
  for (const auto& [folded, row] : table->models) {
    const Model model = table->find(row.name);
    require(table->find_costs(model.costs) != nullptr, "every model has costs");
  }
  for (const CostProfile& costs : table->costs)
    for (const PixelSize size : {PixelSize{0, 0}, PixelSize{1, 0xFFFFFFFF},
                                 PixelSize{0xFFFFFFFF, 0xFFFFFFFF}, PixelSize{1024, 768}})
      require(costs.image.tokens(size, ImageDetail::high) >= 1, "no image is free");
  return 0;
}
