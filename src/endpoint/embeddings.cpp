// Ranks texts by the embeddings of a model behind an HTTP endpoint.
#include <undertext/embeddings.hpp>

#include <charconv>
#include <cmath>
#include <deque>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <utility>

#include <undertext/summariser.hpp>

#include "base/json_text.hpp"
#include "base/utf8.hpp"
#include "endpoint/http.hpp"
#include "endpoint/key.hpp"

namespace undertext {
namespace {

using Vector = std::vector<float>;

constexpr std::size_t answer_bytes_max = std::size_t{64} << 20;

Error embeddings_failed(std::string why) {
  return {.code = ErrorCode::unavailable, .message = "embeddings: " + std::move(why)};
}

std::string beginning_of(const std::string& text, std::uint64_t bytes_max) {
  if (text.size() <= bytes_max) return text;
  std::size_t end = static_cast<std::size_t>(bytes_max);
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
  return text.substr(0, end);
}

double cosine(const Vector& a, const Vector& b) {
  if (a.size() != b.size()) return 0;
  double dot = 0, of_a = 0, of_b = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    dot += static_cast<double>(a[i]) * static_cast<double>(b[i]);
    of_a += static_cast<double>(a[i]) * static_cast<double>(a[i]);
    of_b += static_cast<double>(b[i]) * static_cast<double>(b[i]);
  }
  return of_a > 0 && of_b > 0 ? dot / std::sqrt(of_a * of_b) : 0;
}

// The vectors of texts that were sent before. Any thread.
class KeptVectors {
 public:
  explicit KeptVectors(std::uint64_t most) : most_(most) {}

  std::optional<Vector> find(const std::string& text) {
    const std::lock_guard guard(lock_);
    const auto found = vectors_.find(text);
    return found == vectors_.end() ? std::nullopt : std::optional(found->second);
  }
  void keep(const std::string& text, const Vector& vector) {
    const std::lock_guard guard(lock_);
    if (most_ == 0 || !vectors_.emplace(text, vector).second) return;
    order_.push_back(text);
    if (order_.size() <= most_) return;
    vectors_.erase(order_.front());
    order_.pop_front();
  }

 private:
  const std::uint64_t most_;
  std::mutex lock_;
  std::unordered_map<std::string, Vector> vectors_;  // guarded by lock_
  std::deque<std::string> order_;                    // guarded by lock_; the oldest first
};

class Embeddings {
 public:
  Embeddings(EmbeddingsSettings settings, const HttpUrl& base)
      : settings_(std::move(settings)),
        url_(base.text + "/embeddings"),
        is_loopback_(base.is_loopback),
        kept_(settings_.vectors_kept_max) {}

  Result<std::vector<double>> rank(const std::string& text, const std::vector<std::string>& texts) {
    std::vector<std::string> all = {beginning_of(text, settings_.text_bytes_max)};
    for (const std::string& each : texts)
      all.push_back(beginning_of(each, settings_.text_bytes_max));
    std::vector<Vector> vectors(all.size());
    std::vector<std::size_t> missing;
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (std::optional<Vector> known = kept_.find(all[i]))
        vectors[i] = *std::move(known);
      else
        missing.push_back(i);
    }
    if (!missing.empty())
      if (const std::optional<Error> error = ask(all, missing, vectors)) return *error;
    std::vector<double> fits;
    for (std::size_t i = 1; i < vectors.size(); ++i) fits.push_back(cosine(vectors[0], vectors[i]));
    return fits;
  }

 private:
  std::optional<Error> ask(const std::vector<std::string>& all,
                           const std::vector<std::size_t>& missing, std::vector<Vector>& vectors) {
    EndpointSettings keyed;
    keyed.key_variable = settings_.key_variable;
    keyed.key_file = settings_.key_file;
    Result<EndpointKey> key = EndpointKey::read(keyed);
    if (!key) return std::move(key.error());
    std::string body = R"({"model":)";
    append_json_string(body, settings_.model);
    body += R"(,"encoding_format":"float","input":[)";
    for (const std::size_t i : missing) {
      if (body.back() != '[') body += ',';
      append_json_string(body, all[i].empty() ? " " : all[i]);  // an empty text is refused
    }
    body += "]}";
    HttpRequest post{
        .url = url_,
        .is_loopback = is_loopback_,
        .headers = {"Content-Type: application/json", "Accept: application/json", "Expect:"},
        .body = std::move(body),
        .timeout_ms = settings_.timeout_ms};
    if (!key->empty()) post.headers.push_back("Authorization: Bearer " + key->value());
    std::string answer;
    const HttpOutcome outcome = http_post(post,
                                          [&answer](const HttpHead&, std::string_view bytes) {
                                            answer += bytes;
                                            return answer.size() <= answer_bytes_max;
                                          },
                                          {});
    if (outcome.end != HttpEnd::complete)
      return embeddings_failed("no answer: " + key->clean(outcome.detail));
    if (outcome.head.status != 200)
      return embeddings_failed("the endpoint answered " + std::to_string(outcome.head.status));
    return take(answer, all, missing, vectors);
  }

  std::optional<Error> take(const std::string& answer, const std::vector<std::string>& all,
                            const std::vector<std::size_t>& missing, std::vector<Vector>& vectors) {
    const Result<JsonText> text = JsonText::parse(answer, {});
    const std::optional<JsonValue> data = text ? text->root().find("data") : std::nullopt;
    if (!data || !data->is(JsonType::array)) return embeddings_failed("the answer has no data");
    std::size_t place = 0, taken = 0;
    for (const JsonValue each : data->elements()) {
      const std::optional<JsonValue> index = each.find("index"), list = each.find("embedding");
      const std::uint64_t at = index ? index->uint64_saturated().value_or(place) : place;
      ++place;
      if (at >= missing.size() || !list || !list->is(JsonType::array))
        return embeddings_failed("the answer is of other texts");
      Vector& vector = vectors[missing[at]];
      taken += vector.empty() ? 1u : 0u;
      vector.clear();
      for (const JsonValue number : list->elements()) {
        const std::string_view raw = number.raw();
        float value = 0;
        std::from_chars(raw.data(), raw.data() + raw.size(), value);
        vector.push_back(value);
      }
      kept_.keep(all[missing[at]], vector);
    }
    if (taken != missing.size()) return embeddings_failed("the answer lacks texts");
    return {};
  }

  const EmbeddingsSettings settings_;
  const std::string url_;
  const bool is_loopback_;
  KeptVectors kept_;
};

Error refuse_embeddings(const char* field, const char* message) {
  return {.code = ErrorCode::invalid_argument, .message = message, .field = field};
}

}  // namespace

Result<Rerank> embeddings_rerank(EmbeddingsSettings settings) {
  if (!http_available())
    return Error{
        .code = ErrorCode::unsupported,
        .message = "this build of Undertext has no HTTP client: it was made without libcurl"};
  if (settings.model.empty() || find_invalid_utf8(settings.model))
    return refuse_embeddings("model", "model is empty or not UTF-8");
  if (settings.timeout_ms == 0)
    return refuse_embeddings("timeout_ms", "timeout_ms is 0: no answer comes at once");
  if (settings.text_bytes_max == 0)
    return refuse_embeddings("text_bytes_max", "text_bytes_max is 0");
  Result<HttpUrl> base = read_base_url(settings.base_url);
  if (!base) return std::move(base.error());
  const bool has_key = !settings.key_variable.empty() || !settings.key_file.empty();
  if (has_key && !base->is_https && !base->is_loopback)
    return refuse_embeddings(
        "base_url",
        "base_url is http, and a key would travel where everybody can read it; use https");
  const auto embeddings = std::make_shared<Embeddings>(std::move(settings), *base);
  return Rerank([embeddings](const std::string& text, const std::vector<std::string>& texts) {
    return embeddings->rank(text, texts);
  });
}

}  // namespace undertext
