#include "recall/forms.hpp"

#include <algorithm>
#include <array>
#include <unordered_map>

#include "recall/stem.hpp"

namespace undertext {
namespace {

// Each line: forms of one word. Left out are those that are more often another word: bit, bot,
// half, lag, log, saw.
constexpr std::string_view irregular[] = {
    // English
    "become became",
    "begin began begun",
    "bend bent",
    "bind bound",
    "blow blew blown",
    "break broke broken",
    "bring brought",
    "build built",
    "burn burnt",
    "buy bought",
    "catch caught",
    "choose chose chosen",
    "come came",
    "deal dealt",
    "dig dug",
    "draw drew drawn",
    "drink drank drunk",
    "drive drove driven",
    "eat ate eaten",
    "fall fell fallen fiel gefallen",
    "feed fed",
    "feel felt",
    "fight fought",
    "find found fand fanden gefunden",
    "fly flew flown",
    "forget forgot forgotten",
    "freeze froze frozen",
    "get got gotten",
    "give gave given",
    "go went gone",
    "grow grew grown",
    "hang hung",
    "hear heard",
    "hide hid hidden",
    "hold held",
    "keep kept",
    "know knew known",
    "lead led",
    "learn learnt",
    "leave left",
    "lend lent",
    "lose lost",
    "make made",
    "mean meant",
    "meet met",
    "pay paid",
    "ride rode ridden",
    "rise risen",
    "run ran",
    "say said",
    "sell sold",
    "send sent",
    "shake shook shaken",
    "shoot shot",
    "show shown",
    "sing sang sung",
    "sink sank sunk",
    "sleep slept",
    "speak spoke spoken",
    "spend spent",
    "stand stood",
    "steal stole stolen",
    "stick stuck",
    "strike struck",
    "swim swam swum",
    "take took taken",
    "teach taught",
    "tear torn",
    "tell told",
    "think thought",
    "throw threw thrown",
    "understand understood",
    "wake woke woken",
    "wear wore worn",
    "win won",
    "write wrote written",
    "child children",
    "foot feet",
    "index indices",
    "life lives",
    "man men",
    "person people",
    "vertex vertices",
    "woman women",
    // German, folded as texts are
    "beginnen begann begonnen",
    "bekommen bekam",
    "bleiben blieb geblieben",
    "brechen bricht brach gebrochen",
    "bringen brachte gebracht",
    "denken dachte gedacht",
    "entscheiden entschied entschieden",
    "essen isst gegessen",
    "fahren fahrt fuhr gefahren",
    "fliegen flog geflogen",
    "geben gibt gab gegeben",
    "gehen geht ging gegangen",
    "gewinnen gewann gewonnen",
    "greifen griff gegriffen",
    "halten halt hielt gehalten",
    "heben hob gehoben",
    "helfen hilft geholfen",
    "kennen kannte gekannt",
    "kommen kam gekommen",
    "lassen lasst liess gelassen",
    "laufen lauft lief gelaufen",
    "leihen lieh geliehen",
    "lesen liest gelesen",
    "nehmen nimmt nahm genommen",
    "nennen nannte genannt",
    "rufen rief gerufen",
    "scheiden schied geschieden",
    "schieben schob geschoben",
    "schlafen schlief geschlafen",
    "schlagen schlug geschlagen",
    "schliessen schloss geschlossen",
    "schneiden schnitt geschnitten",
    "schreiben schrieb geschrieben",
    "schwimmen schwamm geschwommen",
    "sehen sieht sah gesehen",
    "sitzen sass gesessen",
    "sprechen spricht sprach gesprochen",
    "stehen steht stand gestanden",
    "stehlen stahl gestohlen",
    "steigen stieg gestiegen",
    "sterben starb gestorben",
    "tragen tragt trug getragen",
    "treffen trifft traf getroffen",
    "trinken trank getrunken",
    "tun tat getan",
    "vergessen vergass",
    "verlieren verlor verloren",
    "wachsen wuchs gewachsen",
    "werfen warf geworfen",
    "wissen weiss wusste gewusst",
    "ziehen zog gezogen",
};

// Of German verbs. Those of the first kind leave their verb, and go before the "ge" of its
// participle.
constexpr std::string_view parted[] = {"ab",  "an",   "auf", "aus", "ein", "her", "hin",   "los",
                                       "mit", "nach", "um",  "vor", "weg", "zu",  "zuruck"};
constexpr std::string_view fixed[] = {"be", "ent", "er", "ver", "zer"};
constexpr std::size_t verb_min = 3;

using Groups = std::unordered_map<std::string, std::vector<std::string>>;

const Groups& irregular_groups() {
  static const Groups groups = [] {
    Groups made;
    for (std::string_view line : irregular) {
      std::vector<std::string> group;
      while (!line.empty()) {
        const std::size_t end = std::min(line.find(' '), line.size());
        std::string word(line.substr(0, end));
        line.remove_prefix(std::min(end + 1, line.size()));
        if (is_stop_word(word)) continue;
        stem(word);
        group.push_back(std::move(word));
      }
      for (const std::string& each : group) {
        std::vector<std::string>& forms = made[each];
        forms.insert(forms.end(), group.begin(), group.end());
      }
    }
    return made;
  }();
  return groups;
}

// Without the ending -t or -et of what is past.
std::string_view without_t(std::string_view word) {
  word.remove_suffix(1);
  if (word.ends_with('e')) word.remove_suffix(1);
  return word;
}

class Forms {
 public:
  explicit Forms(const std::string& stem) { add(stem); }

  void add(std::string form) {
    if (std::find(all_.begin(), all_.end(), form) == all_.end()) all_.push_back(std::move(form));
  }
  void add_irregular(std::string_view lead, const std::string& verb) {
    const auto group = irregular_groups().find(verb);
    if (group == irregular_groups().end()) return;
    for (const std::string& form : group->second) add(std::string(lead) + form);
  }
  // kauf: kauft, gekauft; arbeit: arbeitet, gearbeitet.
  void add_regular(std::string_view lead, std::string_view verb) {
    if (verb.size() < verb_min) return;
    const std::string past =
        std::string(verb) + (verb.ends_with('t') || verb.ends_with('d') ? "et" : "t");
    add(std::string(lead) + std::string(verb));
    add(std::string(lead) + past);
    add(std::string(lead) + "ge" + past);
  }
  void add_german(const std::string& stem) {
    add_verb("", stem);
    for (const std::string_view lead : parted)
      if (stem.starts_with(lead)) add_verb(lead, std::string_view(stem).substr(lead.size()));
    for (const std::string_view lead : fixed)
      if (stem.starts_with(lead)) add_irregular(lead, stem.substr(lead.size()));
  }
  std::vector<std::string> take() { return std::move(all_); }

 private:
  void add_verb(std::string_view lead, std::string_view verb) {
    add_irregular(lead, std::string(verb));
    const bool is_participle =
        verb.starts_with("ge") && verb.ends_with('t') && verb.size() > 2 + verb_min;
    if (is_participle) {
      const std::string_view present = without_t(verb.substr(2));
      add_regular(lead, present);
      if (!lead.empty()) add_regular("", present);  // "eingekauft": "kauft … ein"
    } else if (verb.ends_with('t') && lead.empty()) {
      add_regular(lead, without_t(verb));
    } else if (lead.empty() || verb.size() > verb_min) {
      add_regular(lead, verb);
    }
  }

  std::vector<std::string> all_;
};

}  // namespace

std::vector<std::string> forms_of(const std::string& stem, Language language) {
  Forms forms(stem);
  forms.add_irregular("", stem);
  if (language == Language::german) forms.add_german(stem);
  return forms.take();
}

bool is_german(std::string_view stop_word) {
  static constexpr std::array words = {
      "das",     "dem",     "der", "des",   "ein",  "eine",  "einem", "einen", "einer",  "hat",
      "hatte",   "haben",   "ist", "nicht", "sind", "und",   "wann",  "warum", "welche", "welchen",
      "welcher", "welches", "wem", "wer",   "wie",  "wieso", "wohin", "wurde", "wurden", "von"};
  return std::find(words.begin(), words.end(), stop_word) != words.end();
}

}  // namespace undertext
