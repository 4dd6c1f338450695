#include "postgres/connection.hpp"

#include <algorithm>
#include <climits>
#include <cstring>
#include <memory>
#include <new>

#include "system/sockets.hpp"

namespace undertext::postgres {
namespace {

// The types' numbers are the same in every server: pg_type.dat.
constexpr Oid type_bytea = 17, type_bigint = 20, type_text = 25, type_bigint_list = 1016;

std::string big_endian(std::uint64_t value) {
  std::string text(8, '\0');
  for (std::size_t i = 0; i < 8; ++i) text[i] = static_cast<char>((value >> (56 - 8 * i)) & 0xff);
  return text;
}

std::string words(const char* message) {
  std::string_view text = message == nullptr ? "" : message;
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.remove_suffix(1);
  std::string line(text);
  std::replace(line.begin(), line.end(), '\n', ' ');
  return line;
}

std::string diagnosis(const PGresult* result, int field) {
  const char* text = PQresultErrorField(result, field);
  return text == nullptr ? std::string() : std::string(text);
}

}  // namespace

Value number(std::uint64_t value) {
  return {.type = type_bigint, .is_binary = true, .own = big_endian(value)};
}
Value number(std::int64_t value) { return number(static_cast<std::uint64_t>(value)); }
Value text(std::string_view value) {
  return {.type = type_text, .borrowed = value.data() == nullptr ? "" : value};
}
Value bytes(std::string_view value) {
  return {.type = type_bytea, .is_binary = true, .borrowed = value.data() == nullptr ? "" : value};
}
Value own_bytes(std::string value) {
  return {.type = type_bytea, .is_binary = true, .own = std::move(value)};
}
Value digest(const Digest& value) {
  return bytes({reinterpret_cast<const char*>(value.data()), value.size()});
}
Value null_number() { return {.type = type_bigint, .is_null = true}; }
Value null_text() { return {.type = type_text, .is_null = true}; }
Value null_bytes() { return {.type = type_bytea, .is_null = true}; }

Value numbers(std::span<const std::uint64_t> values) {
  std::string list = "{";
  for (const std::uint64_t value : values)
    list += (list.size() > 1 ? "," : "") + std::to_string(value);
  return {.type = type_bigint_list, .own = list + "}"};
}

std::int64_t Rows::number(std::size_t row, int column) const {
  const char* const data = PQgetvalue(result_.get(), static_cast<int>(row), column);
  const int size = PQgetlength(result_.get(), static_cast<int>(row), column);
  if (size == 0) return 0;
  std::uint64_t value = (data[0] & 0x80) != 0 ? ~std::uint64_t{0} : 0;
  for (int i = 0; i < size; ++i) value = value << 8 | static_cast<std::uint8_t>(data[i]);
  return static_cast<std::int64_t>(value);
}

std::string Rows::bytes(std::size_t row, int column) const {
  return {PQgetvalue(result_.get(), static_cast<int>(row), column),
          static_cast<std::size_t>(PQgetlength(result_.get(), static_cast<int>(row), column))};
}

Value Rows::value(std::size_t row, int column) const {
  const PGresult* const result = result_.get();
  const int at = static_cast<int>(row);
  return {.type = PQftype(result, column),
          .is_null = PQgetisnull(result, at, column) == 1,
          .is_binary = true,
          .borrowed = {PQgetvalue(result, at, column),
                       static_cast<std::size_t>(PQgetlength(result, at, column))}};
}

std::optional<Digest> Rows::digest(std::size_t row, int column) const {
  Digest value;
  if (PQgetlength(result_.get(), static_cast<int>(row), column) != static_cast<int>(value.size()))
    return std::nullopt;
  std::memcpy(value.data(), PQgetvalue(result_.get(), static_cast<int>(row), column), value.size());
  return value;
}

Result<std::unique_ptr<Connection>> Connection::open(const ConnectionSettings& settings) {
  std::vector<const char*> names, values;
  for (const auto& [name, value] : settings.parameters) {
    names.push_back(name.c_str());
    values.push_back(value.c_str());
  }
  names.push_back(nullptr);
  values.push_back(nullptr);
  // Not PQconnectStart(): that one leaves connect_timeout, and with it the next host, to its
  // caller.
  PGconn* const raw = PQconnectdbParams(names.data(), values.data(), 0);
  if (raw == nullptr) throw std::bad_alloc();
  std::unique_ptr<Connection> connection(new Connection(raw, settings.prepare));
  if (PQstatus(raw) != CONNECTION_OK || PQsetnonblocking(raw, 1) != 0 ||
      PQenterPipelineMode(raw) != 1)
    return Error{.code = ErrorCode::unavailable,
                 .message = "no connection to PostgreSQL: " + words(PQerrorMessage(raw))};
  return connection;
}

Connection::Connection(PGconn* connection, bool prepare)
    : connection_(connection), prepare_(prepare) {
  PQsetNoticeReceiver(connection_, &Connection::on_notice, this);
}

Connection::~Connection() { PQfinish(connection_); }

// A commit that is confirmed before the synchronous standby has it says so in a warning, and only
// there.
void Connection::on_notice(void* self, const PGresult* notice) {
  const char* const severity = PQresultErrorField(notice, PG_DIAG_SEVERITY_NONLOCALIZED);
  std::string& warning = static_cast<Connection*>(self)->warning_;
  if (warning.empty() && severity != nullptr && std::string_view(severity) == "WARNING")
    warning = words(PQresultErrorMessage(notice));
}

bool Connection::is_stale() const {
  if (PQstatus(connection_) != CONNECTION_OK) return true;
  return bool(wait_until_ready(PQsocket(connection_), WaitFor::reading, 0));
}

std::string Connection::database() const {
  const std::string_view name = PQdb(connection_);
  const std::unique_ptr<char, decltype(&PQfreemem)> quoted(
      PQescapeIdentifier(connection_, name.data(), name.size()), &PQfreemem);
  if (!quoted) throw std::bad_alloc();
  return quoted.get();
}

bool Connection::send(const Batch& batch) {
  sent_prepares_.assign(batch.entries().size(), false);
  std::set<std::string_view> sent_now;
  for (std::size_t at = 0; at < batch.entries().size(); ++at) {
    const auto& [statement, parameters, when_false] = batch.entries()[at];
    std::vector<Oid> types;
    std::vector<const char*> data;
    std::vector<int> sizes, formats;
    for (const Value& value : parameters) {
      if (value.data().size() > INT_MAX) return false;
      types.push_back(value.type);
      data.push_back(value.is_null ? nullptr : value.data().data());
      sizes.push_back(static_cast<int>(value.data().size()));
      formats.push_back(value.is_binary ? 1 : 0);
    }
    // Texts go as C strings; ids and tenants hold no zero byte, and end in a std::string or are
    // copied here.
    std::vector<std::string> ended(parameters.size());
    for (std::size_t i = 0; i < parameters.size(); ++i)
      if (!parameters[i].is_null && !parameters[i].is_binary)
        data[i] = (ended[i] = parameters[i].data()).c_str();
    const int count = static_cast<int>(parameters.size());
    const bool named = prepare_ && statement->name[0] != '\0';
    if (named && !prepared_.contains(statement->name) && sent_now.insert(statement->name).second) {
      if (PQsendPrepare(connection_, statement->name, statement->text, count, types.data()) != 1)
        return false;
      sent_prepares_[at] = true;
    }
    const int sent = named ? PQsendQueryPrepared(connection_, statement->name, count, data.data(),
                                                 sizes.data(), formats.data(), 1)
                           : PQsendQueryParams(connection_, statement->text, count, types.data(),
                                               data.data(), sizes.data(), formats.data(), 1);
    if (sent != 1) return false;
  }
  return PQpipelineSync(connection_) == 1;
}

// Until the next result can be taken without waiting.
bool Connection::wait(Deadline deadline) {
  for (;;) {
    const int unsent = PQflush(connection_);
    if (unsent >= 0 && PQisBusy(connection_) == 0) return true;
    // The server may have said why before it went.
    if (unsent < 0) return PQconsumeInput(connection_) == 1 && PQisBusy(connection_) == 0;
    const auto left =
        std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now())
            .count();
    if (left <= 0) return false;
    const int socket = PQsocket(connection_);
    if (socket < 0) return false;
    const int wait_ms = static_cast<int>(std::min<std::int64_t>(left, 60'000));
    const Ready ready =
        wait_until_ready(socket, unsent == 1 ? WaitFor::both : WaitFor::reading, wait_ms);
    if (ready.to_read && PQconsumeInput(connection_) != 1) return false;
  }
}

Fault Connection::lost(std::size_t at) const {
  const std::string said = words(PQerrorMessage(connection_));
  return {.at = at,
          .message = said.empty() ? "PostgreSQL did not answer in time"
                                  : "the connection to PostgreSQL was lost: " + said};
}

Answers Connection::run(const Batch& batch, Deadline deadline) {
  Answers answers;
  warning_.clear();
  if (!send(batch)) {
    answers.fault = lost(0);
    return answers;
  }
  // all of one command's results; false: the connection is of no more use
  const auto take = [&](std::size_t at) -> bool {
    for (;;) {
      if (!wait(deadline)) return false;
      PGresult* const result = PQgetResult(connection_);
      if (result == nullptr) return PQstatus(connection_) == CONNECTION_OK;
      Rows rows(result);
      switch (PQresultStatus(result)) {
        case PGRES_COMMAND_OK:
        case PGRES_TUPLES_OK: answers.rows.push_back(std::move(rows)); break;
        case PGRES_PIPELINE_ABORTED: break;
        default:
          if (answers.fault) break;
          answers.fault =
              Fault{.is_refusal = diagnosis(result, PG_DIAG_SEVERITY_NONLOCALIZED) == "ERROR",
                    .at = at,
                    .state = diagnosis(result, PG_DIAG_SQLSTATE),
                    .constraint = diagnosis(result, PG_DIAG_CONSTRAINT_NAME),
                    .message = words(PQresultErrorMessage(result))};
      }
    }
  };
  bool whole = true;
  for (std::size_t at = 0; whole && at < batch.entries().size(); ++at) {
    if (sent_prepares_[at]) {
      const std::size_t before = answers.rows.size();
      whole = take(at);
      if (answers.rows.size() > before) {
        answers.rows.pop_back();
        prepared_.insert(batch.entries()[at].statement->name);
      }
    }
    whole = whole && take(at);
  }
  if (whole) {
    whole = wait(deadline);
    if (whole) {
      const Rows end(PQgetResult(connection_));
      whole = PQstatus(connection_) == CONNECTION_OK;
    }
  }
  if (!whole) {
    if (!answers.fault) answers.fault = lost(answers.rows.size());
    answers.fault->is_refusal = false;
  } else if (!answers.fault && !warning_.empty() &&
             batch.entries().back().statement == &sql::commit) {
    answers.fault = Fault{.at = batch.entries().size() - 1, .message = warning_};
  }
  answers.warning = warning_;
  return answers;
}

bool Connection::reset(Deadline deadline) {
  if (PQtransactionStatus(connection_) == PQTRANS_IDLE) return true;
  Batch batch;
  batch.add(sql::rollback);
  return !run(batch, deadline).fault && PQtransactionStatus(connection_) == PQTRANS_IDLE;
}

}  // namespace undertext::postgres
