// The scanners one by one: each row is a line of text and what has to be found in it.
#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "compression/digest_commands.hpp"
#include "compression/digest_cues.hpp"
#include "compression/digest_errors.hpp"
#include "compression/digest_findings.hpp"
#include "compression/digest_numbers.hpp"
#include "compression/digest_places.hpp"
#include "compression/digest_text.hpp"

namespace undertext::digest {
namespace {

using Strings = std::vector<std::string>;

Strings found(Findings& findings, Kind kind) {
  std::vector<Finding> list = findings.take(kind);
  std::sort(list.begin(), list.end(),
            [](const Finding& a, const Finding& b) { return a.first < b.first; });
  Strings texts;
  for (const Finding& finding : list) texts.push_back(finding.text);
  return texts;
}

Strings places(std::string_view line, Kind kind, Voice voice = Voice::spoken) {
  Findings findings(1000);
  find_places(line, voice, findings);
  return found(findings, kind);
}
Strings files(std::string_view line, Voice voice = Voice::spoken) {
  return places(line, Kind::file, voice);
}
Strings urls(std::string_view line) { return places(line, Kind::url); }

Strings errors(std::string_view text, Voice voice = Voice::printed) {
  Findings findings(1000);
  ErrorReader reader(findings);
  std::vector<CueMatch> cues;
  for_each_line(text, [&](std::string_view line) {
    find_cues(line, cues);
    reader.read(line, cues, voice);
  });
  return found(findings, Kind::error);
}

Strings script(std::string_view text) {
  Findings findings(1000);
  add_script(text, Voice::spoken, findings);
  return found(findings, Kind::command);
}

Strings numbers(std::string_view line) {
  Findings findings(1000);
  find_numbers(line, Voice::spoken, findings);
  return found(findings, Kind::number);
}

TEST(DigestPaths, AreFoundInProse) {
  EXPECT_EQ(files("Edit src/a/b.cpp, then ./run and ../x/y."),
            (Strings{"src/a/b.cpp", "./run", "../x/y"}));
  EXPECT_EQ(files("(see docs/plan.md), **src/main.rs**, `lib/util.js`"),
            (Strings{"docs/plan.md", "src/main.rs", "lib/util.js"}));
  EXPECT_EQ(files("main.py:12:3, Makefile, .env.local, package.json"),
            (Strings{"main.py", "Makefile", ".env.local", "package.json"}));
  EXPECT_EQ(files("in ~/notes.txt and /etc/nginx/nginx.conf and /var/log"),
            (Strings{"~/notes.txt", "/etc/nginx/nginx.conf", "/var/log"}));
  EXPECT_EQ(files("src/components/ and src/io"), (Strings{"src/components/", "src/io"}));
  EXPECT_EQ(files("$HOME/.config/app.toml"), (Strings{"$HOME/.config/app.toml"}));
}

TEST(DigestPaths, AreFoundInWhatToolsPrint) {
  EXPECT_EQ(files("  File \"/usr/lib/python3/site.py\", line 3"),
            (Strings{"/usr/lib/python3/site.py"}));
  EXPECT_EQ(files("--- a/src/x.c\t2026-11-15"), (Strings{"src/x.c"}));
  EXPECT_EQ(files("diff --git a/src/x.c b/src/x.c"), (Strings{"src/x.c"}));
  EXPECT_EQ(files("at run (app/(shop)/[id]/page.tsx:3:1)"), (Strings{"app/(shop)/[id]/page.tsx"}));
  EXPECT_EQ(files("-I/usr/include/foo --config=/etc/a.yml"),
            (Strings{"/usr/include/foo", "/etc/a.yml"}));
  EXPECT_EQ(files("Program.cs(12,5): error"), (Strings{"Program.cs"}));
  EXPECT_EQ(files("one\\nsrc/b.py"), (Strings{"src/b.py"}));
}

TEST(DigestPaths, MayBeOfWindows) {
  EXPECT_EQ(files(R"(open C:\dev\app\main.cs now)"), (Strings{R"(C:\dev\app\main.cs)"}));
  EXPECT_EQ(files(R"(C:\Program Files (x86)\App\a.exe failed)"),
            (Strings{R"(C:\Program Files (x86)\App\a.exe)"}));
  EXPECT_EQ(files(R"(copy C:\a.txt C:\b.txt)"), (Strings{R"(C:\a.txt)", R"(C:\b.txt)"}));
  EXPECT_EQ(files(R"(\\server\share\x.log and src\ui\Form.cs)"),
            (Strings{R"(\\server\share\x.log)", R"(src\ui\Form.cs)"}));
  EXPECT_EQ(files(R"("D:\My Files\notes 1.txt")"), (Strings{R"(D:\My Files\notes 1.txt)"}));
}

TEST(DigestPaths, StandBesideChineseAndMayBeChinese) {
  EXPECT_EQ(files("请修改src/main.py文件，然后看/etc/hosts。"),
            (Strings{"src/main.py", "/etc/hosts"}));
  EXPECT_EQ(files("放到 data/销售_2026.csv 里"), (Strings{"data/销售_2026.csv"}));
  EXPECT_EQ(files("打开“报表”和`报表/十月.xlsx`"), (Strings{"报表/十月.xlsx"}));
  EXPECT_EQ(files("报表/十月.xlsx", Voice::printed), (Strings{"报表/十月.xlsx"}));
}

TEST(DigestPaths, AreNotWhatOnlyLooksLikeOne) {
  for (const std::string_view line : {"and/or",
                                      "1/2",
                                      "2026/11/15",
                                      "TCP/IP",
                                      "24/7",
                                      "N/A",
                                      "km/h",
                                      "client/server",
                                      "application/json",
                                      "Node.js",
                                      "e.g. this, i.e. that",
                                      "v1.2.3",
                                      "a@b.example",
                                      "example.com",
                                      "console.log(x)",
                                      "response.json()",
                                      "self.db",
                                      "10.0.0.0/16",
                                      "GET /api/v1/users",
                                      "/api/v1/users",
                                      "/help",
                                      "s/old/new/",
                                      "@types/node",
                                      "origin/main",
                                      "std::string",
                                      "//comment",
                                      "...",
                                      "-",
                                      "build/test",
                                      "red/green/blue",
                                      "3.14",
                                      ".ts files",
                                      "w/ and w/o",
                                      "C:",
                                      "*.log",
                                      "50%"})
    EXPECT_EQ(files(line), Strings{}) << line;
}

TEST(DigestUrls, EndWhereTheirSentenceGoesOn) {
  EXPECT_EQ(
      urls("See https://a.example/x?y=1&z=2#f. Or (http://b.example/c_(d)), "
           "[x](https://c.example)!"),
      (Strings{"https://a.example/x?y=1&z=2#f", "http://b.example/c_(d)", "https://c.example"}));
  EXPECT_EQ(urls("请看https://a.example/x，以及https://b.example查看"),
            (Strings{"https://a.example/x", "https://b.example"}));
  EXPECT_EQ(urls("https://zh.example/wiki/上下文。"), (Strings{"https://zh.example/wiki/上下文"}));
  EXPECT_EQ(urls("<s3://bucket/key> \"postgres://u:p@h:5432/db\""),
            (Strings{"s3://bucket/key", "postgres://u:p@h:5432/db"}));
  EXPECT_EQ(urls("git@host.example:org/repo.git and github.com/org/repo"),
            (Strings{"git@host.example:org/repo.git", "github.com/org/repo"}));
  EXPECT_EQ(urls("http:// and :// and a://"), Strings{});
  EXPECT_EQ(files("https://a.example/x/y.html"), Strings{});
}

TEST(DigestCommands, AreTakenFromScripts) {
  EXPECT_EQ(script("# comment\ncd a && make\n\ndocker run \\\n  -p 80:80 \\\n  nginx"),
            (Strings{"cd a && make", "docker run -p 80:80 nginx"}));
  EXPECT_EQ(script("cat > a <<'EOF'\nrm -rf /\nEOF\nls"), (Strings{"cat > a <<'EOF'", "ls"}));
  EXPECT_EQ(script("git commit -m \"one\n\ntwo\"\ngit push"),
            (Strings{"git commit -m \"one two\"", "git push"}));
  EXPECT_EQ(script("for f in *; do\n  echo $f\ndone"), (Strings{"for f in *; do", "echo $f"}));
  EXPECT_EQ(script("echo 'a\\'\nls"), (Strings{"echo 'a\\'", "ls"}));
  EXPECT_EQ(script("cat <<EOF\nnever ends"), (Strings{"cat <<EOF"}));
}

TEST(DigestCommands, StandBehindAPrompt) {
  EXPECT_EQ(after_prompt("$ make test"), "make test");
  EXPECT_EQ(after_prompt("(venv) $ pip list"), "pip list");
  EXPECT_EQ(after_prompt("me@host:~/src$ ls -l"), "ls -l");
  EXPECT_EQ(after_prompt("[root@host ~]# dnf update"), "dnf update");
  EXPECT_EQ(after_prompt(R"(PS C:\src> dir)"), "dir");
  EXPECT_EQ(after_prompt(R"(C:\src>dir /b)"), "dir /b");
  for (const std::string_view line :
       {"$ 100", "costs $ or more", "# heading", "$", "a $ b", "C:\\src", "x@y.example $ "})
    EXPECT_FALSE(after_prompt(line)) << line;
}

TEST(DigestCommands, AreToldFromOtherCode) {
  for (const std::string_view text :
       {"git status", "npm run build -- --watch", "FOO=1 sudo make install", "./run.sh --fast",
        "Get-ChildItem", "go test ./...", "arm-none-eabi-gcc -c a.c"})
    EXPECT_TRUE(is_command(text)) << text;
  for (const std::string_view text :
       {"git", "foo.bar()", "make sure that it works", "find the bug", "x = 1", "node",
        "Git is great", "", "application/json", "test = 5"})
    EXPECT_FALSE(is_command(text)) << text;
}

TEST(DigestErrors, AreTheLinesOfWhatToolsPrint) {
  for (const std::string_view line : {"error: x",
                                      "fatal: not a git repository",
                                      "a.c:1:2: error: y",
                                      "a.c:1:2: fatal error: z.h: No such file or directory",
                                      "TypeError: f is not a function",
                                      "error[E0382]: borrow of moved value",
                                      "a.ts(1,2): error TS2322: no",
                                      "ERROR 1045 (28000): Access denied",
                                      "  12:5  error  'x' is not defined  no-undef",
                                      "npm ERR! code ELIFECYCLE",
                                      "panic: runtime error: index out of range",
                                      "Segmentation fault (core dumped)",
                                      "bash: foo: command not found",
                                      "curl: (22) The requested URL returned error: 404",
                                      "HTTP/1.1 502 Bad Gateway",
                                      "\"GET / HTTP/1.1\" 500 12",
                                      "503 Service Unavailable",
                                      "Caused by: java.io.IOException: closed",
                                      "java.lang.NullPointerException",
                                      "Exception in thread \"main\" java.lang.Error: x",
                                      "2026-11-15 ERROR [main] lost",
                                      "{\"error\": \"no such key\"}",
                                      "level=error msg=lost",
                                      R"({"level":"error","msg":"lost"})",
                                      "Failed to open server.log.",
                                      "FAILED tests/a.py::b - assert 1",
                                      "--- FAIL: TestX (0.00s)",
                                      "E1 OOMKilled",
                                      "connect ECONNREFUSED 127.0.0.1:5432",
                                      "make: *** [all] Error 2",
                                      "错误：文件不存在",
                                      "连接失败",
                                      "a.b.exceptions.Refused: no"})
    EXPECT_EQ(errors(line), (Strings{std::string(trim(line))})) << line;
}

TEST(DigestErrors, AreNotWhatTalksAboutThem) {
  for (const std::string_view line :
       {"0 errors", "no errors found", "14 passed, 0 failed", "exit code 0", "HTTP/1.1 200 OK",
        "status: 200", "except ValueError:", "raise ValueError(\"failed to parse\")",
        "throw new Error(\"Failed to load\");", "// error: never happens", "  error: string;",
        "catch (Exception e) {", "import errors", "errors: []", "console.error(\"x failed\")",
        "\"error\": null"})
    EXPECT_EQ(errors(line), Strings{}) << line;
}

TEST(DigestErrors, InProseAreTheirSentenceOrCode) {
  EXPECT_EQ(errors("It works now. Before, it said TypeError: x is null. Good.", Voice::spoken),
            (Strings{"Before, it said TypeError: x is null."}));
  EXPECT_EQ(errors("I get `TypeError: x is null. Stop` here.", Voice::spoken),
            (Strings{"TypeError: x is null. Stop"}));
  EXPECT_EQ(errors("One `TypeError: x is null│", Voice::spoken),
            (Strings{"One `TypeError: x is null│"}));
  EXPECT_EQ(errors("Error handling failed to impress, we could not agree.", Voice::spoken),
            Strings{});
}

TEST(DigestErrors, OfATracebackAreItsLastLine) {
  EXPECT_EQ(errors("Traceback (most recent call last):\n  File \"a.py\", line 1\n    raise "
                   "Stop\nStop\ndone"),
            (Strings{"Stop"}));
  EXPECT_EQ(
      errors("[r0]: Traceback (most recent call last):\n[r0]:   File \"a.py\"\n[r0]: app.Gone"),
      (Strings{"app.Gone"}));
  EXPECT_EQ(errors("thread 'main' panicked at a.rs:1:2:\nindex out of bounds\nnote"),
            (Strings{"thread 'main' panicked at a.rs:1:2:", "index out of bounds"}));
  EXPECT_EQ(errors("│ Error: no\n│ \nE       assert 1 == 2"),
            (Strings{"Error: no", "assert 1 == 2"}));
}

TEST(DigestErrors, InALongLineAreAWindowOfIt) {
  const Strings found = errors(std::string(5000, 'x') + " TypeError: y " + std::string(5000, 'z'));
  ASSERT_EQ(found.size(), 1u);
  EXPECT_NE(found[0].find("TypeError: y"), std::string::npos);
  EXPECT_LE(found[0].size(), 400u);
}

TEST(DigestNumbers, HaveUnitsAndWordsAround) {
  EXPECT_EQ(numbers("The limit is 256 MiB, at 30% load."),
            (Strings{"The limit is 256 MiB", "at 30% load."}));
  EXPECT_EQ(numbers("p95 412ms"), (Strings{"p95 412ms"}));
  EXPECT_EQ(numbers("about $412.50 a month"), (Strings{"about $412.50 a month"}));
  EXPECT_EQ(numbers("耗时 3 分钟，共 1.8 万行"), (Strings{"耗时 3 分钟", "共 1.8 万行"}));
  for (const std::string_view line : {"v1.2.3", "2026-11-15", "10:14:22", "line 88", "#231", "1/2",
                                      "0x1f", "3 of them", "abc123s"})
    EXPECT_EQ(numbers(line), Strings{}) << line;
}

TEST(DigestCues, AreFoundWholeAndInAnyCase) {
  std::vector<CueMatch> cues;
  find_cues("We DECIDED; let’s use it", cues);
  const auto decisions = std::count_if(
      cues.begin(), cues.end(), [](const CueMatch& cue) { return cue.rule == CueRule::decision; });
  EXPECT_EQ(decisions, 2);
  find_cues("undecided decidedly Xkilled", cues);
  EXPECT_TRUE(cues.empty());
}

TEST(DigestText, AMarkThatIsPartOfANameEndsNoSentence) {
  const std::string_view macro = "Next I'll use eprintln! and exit. Then rest.";
  EXPECT_EQ(digest::sentence_end(macro, 0), macro.find(" Then"));
  const std::string_view meant = "It maps Ö to O or ? by the locale. Useless.";
  EXPECT_EQ(digest::sentence_end(meant, 0), meant.find(" Useless"));
  const std::string_view ends = "Done! now the rest";
  EXPECT_EQ(digest::sentence_end(ends, 0), 5u);
}

TEST(DigestText, IsCutBetweenCharacters) {
  EXPECT_EQ(first_bytes("aé消", 2), "a");
  EXPECT_EQ(last_bytes("aé消", 4), "消");
  EXPECT_EQ(shorten("one two three four five six", 20), "one two … six");
  EXPECT_EQ(shorten("short", 20), "short");
  EXPECT_EQ(one_line("  a \n\t b  "), "a b");
  EXPECT_EQ(clean("a\x1B[1;31mb\x1B[0mc\r\nd\te"), "abc\nd e");
  EXPECT_EQ(clean("a\x1B["
                  "b"),
            "a");
}

TEST(DigestFindings, KeepTheNewestWhenThereAreTooMany) {
  FindingList list(3);
  for (std::uint64_t i = 0; i < 100000; ++i) {
    const std::string text = "item " + std::to_string(i);
    list.add(text, text, Voice::printed, i);
  }
  const std::vector<Finding> kept = list.take();
  ASSERT_EQ(kept.size(), 3u);
  EXPECT_EQ(kept[0].text, "item 99999");
  EXPECT_EQ(kept[2].text, "item 99997");
}

}  // namespace
}  // namespace undertext::digest
