#include "compression/digest_numbers.hpp"

#include <algorithm>
#include <cstddef>
#include <string>

#include "compression/digest_text.hpp"
#include "compression/digest_words.hpp"

namespace undertext::digest {
namespace {

constexpr std::size_t lead_bytes_max = 40;
constexpr std::size_t trail_bytes_max = 24;

constexpr std::string_view signs_before[] = {"$", "€", "£", "¥", "￥"};
constexpr std::string_view chinese_units[] = {
    "%",  "％", "毫秒", "秒", "分钟", "小时", "天", "周", "个月", "月",
    "年", "元", "万",   "亿", "次",   "条",   "行", "个", "台",   "核",
    "倍", "人", "字节", "兆", "位",   "度",   "℃",  "°C", "°F",   "°"};

// The end of the unit that begins at `at`, or `at`.
std::size_t unit_end(std::string_view line, std::size_t at) {
  const bool touches = at < line.size() && line[at] != ' ';
  const std::size_t begin = touches ? at : at + 1;
  if (begin >= line.size()) return at;
  const std::string_view rest = line.substr(begin);
  if (is_ascii(rest[0]) && rest[0] != '%' && !is_letter(rest[0])) return at;
  for (const std::string_view unit : chinese_units) {
    if (is_letter(rest[0])) break;
    if (!rest.starts_with(unit)) continue;
    std::size_t end = begin + unit.size();
    if ((unit == "万" || unit == "亿") && end < line.size() && !is_ascii(line[end])) {  // 3 万行
      for (const std::string_view more : chinese_units)
        if (line.substr(end).starts_with(more)) return end + more.size();
    }
    return end;
  }
  std::size_t end = begin;
  while (end < line.size() && end - begin < 16 &&
         (is_letter(line[end]) || line.substr(end).starts_with("µ") ||
          line.substr(end - 1).starts_with("µ")))
    ++end;
  if (end + 1 < line.size() && line[end] == '/' && line[end + 1] == 's' &&
      (end + 2 == line.size() || !is_word(line[end + 2])))
    end += 2;
  if (end < line.size() && (is_word(line[end]) || line[end] == '-')) return at;
  const std::string_view unit = line.substr(begin, end - begin);
  if (!is_in(unit, units) || (!touches && is_in(unit, short_units))) return at;
  return end;
}

// The end of the number that begins at `at`: digits, with separators between digits.
std::size_t number_end(std::string_view line, std::size_t at) {
  while (at < line.size() &&
         (is_digit(line[at]) ||
          ((line[at] == '.' || line[at] == ',') && at + 1 < line.size() && is_digit(line[at + 1]))))
    ++at;
  return at;
}

// The words around [begin, end), within the part of the sentence it stands in.
std::string_view phrase(std::string_view line, std::size_t begin, std::size_t end) {
  std::string_view lead = last_bytes(line.substr(0, begin), lead_bytes_max);
  for (const std::string_view stop : {". ", "; ", "。", "；", "，", ", ", "| ", "("})
    if (const std::size_t found = lead.rfind(stop); found != lead.npos)
      lead.remove_prefix(found + stop.size());
  if (lead.size() + 3 > lead_bytes_max) {  // begin at a word
    const std::size_t space = lead.find(' ');
    if (space != lead.npos) lead.remove_prefix(space + 1);
  }
  std::string_view trail = first_bytes(line.substr(end), trail_bytes_max);
  const bool cut = trail.size() < line.size() - end;
  for (const std::string_view stop : {". ", "; ", "。", "；", "，", ", ", " |", ")"})
    trail = trail.substr(0, trail.find(stop));
  if (cut && trail.size() + 3 > trail_bytes_max) {
    const std::size_t space = trail.rfind(' ');
    if (space != trail.npos) trail = trail.substr(0, space);
  }
  return trim(line.substr(begin - lead.size(), lead.size() + (end - begin) + trail.size()));
}

}  // namespace

void find_numbers(std::string_view line, Voice voice, Findings& findings) {
  constexpr std::size_t number_bytes_max = 24;
  std::size_t told = 0;  // up to here, numbers stand in what was kept for one before them
  for (std::size_t at = 0; at < line.size();) {
    if (!is_digit(line[at])) {
      ++at;
      continue;
    }
    std::size_t begin = at;
    const std::size_t digits_end = number_end(line, at);
    at = digits_end;
    if (digits_end - begin > number_bytes_max) continue;
    if (begin > 0 &&
        (is_word(line[begin - 1]) || line[begin - 1] == '.' || line[begin - 1] == '/' ||
         line[begin - 1] == '-' || line[begin - 1] == ':' || line[begin - 1] == '#'))
      continue;  // part of a name, a version, a date, a time
    std::size_t end = unit_end(line, digits_end);
    for (const std::string_view sign : signs_before) {
      if (!line.substr(0, begin).ends_with(sign)) continue;
      begin -= sign.size();
      end = std::max(end, digits_end);
      break;
    }
    if (end == digits_end && is_digit(line[begin])) continue;
    at = std::max(end, at);
    if (end <= told) continue;
    const std::string_view whole = phrase(line, begin, end);
    findings.add(Kind::number, whole, line.substr(begin, end - begin), voice);
    told = static_cast<std::size_t>(whole.data() - line.data()) + whole.size();
  }
}

}  // namespace undertext::digest
