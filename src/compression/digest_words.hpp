// Lists of words that the digest goes by. Longer lists find more; docs/digest.md says what each is
// for.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string_view>

#include "compression/digest_text.hpp"

namespace undertext::digest {

constexpr std::uint8_t byte(char c) { return static_cast<std::uint8_t>(c); }

// Whether the word stands in a sorted list of words in lower case. Its own case does not matter.
template <std::size_t n>
bool is_in(std::string_view word, const std::string_view (&list)[n]) {
  std::array<char, 24> buffer;  // longer than any of them
  if (word.empty() || word.size() > buffer.size()) return false;
  std::transform(word.begin(), word.end(), buffer.begin(), to_lower);
  // By the first letter, since comparing whole words is what takes time.
  const std::string_view* const begin = std::partition_point(
      list, list + n, [&](std::string_view w) { return byte(w[0]) < byte(buffer[0]); });
  const std::string_view* const end = std::partition_point(
      begin, list + n, [&](std::string_view w) { return byte(w[0]) == byte(buffer[0]); });
  return std::find(begin, end, std::string_view(buffer.data(), word.size())) != end;
}

// Lines are filled by hand: one word a line would be five hundred.
// clang-format off

// Endings by which a name is taken for that of a file.
inline constexpr std::string_view extensions[] = {
    "7z", "adoc", "apk", "asm", "astro", "avi", "avif", "avro", "awk", "backup", "bak", "bash", "bat", "bin", "bmp", "bz2", "c",
    "cc", "cer", "cert", "cfg", "cjs", "class", "clj", "cmake", "cmd", "conf", "cpp", "crt", "cs", "csproj", "css", "csv", "cts",
    "cu", "cuh", "cxx", "dart", "dat", "db", "dbf", "deb", "diff", "dll", "dmg", "doc", "dockerfile", "docx", "dylib", "ear",
    "ejs", "elf", "env", "eot", "epub", "erl", "ex", "exe", "exs", "feather", "fish", "flac", "frag", "fs", "fsx", "gemspec",
    "gif", "gitignore", "glsl", "go", "gpg", "gql", "gradle", "graphql", "groovy", "gz", "h", "h5", "hbs", "hcl", "heic", "hh",
    "hpp", "hs", "htm", "html", "hxx", "ico", "ics", "inc", "ini", "ino", "ipynb", "iso", "jar", "java", "jks", "jl", "jpeg",
    "jpg", "js", "json", "json5", "jsonc", "jsonl", "jsx", "key", "kt", "kts", "less", "lib", "lock", "log", "lua", "m4a", "mak",
    "map", "markdown", "mat", "md", "mdx", "mjs", "mk", "mkv", "mm", "mod", "mov", "mp3", "mp4", "mpg", "msi", "mts", "ndjson",
    "nix", "npy", "npz", "o", "obj", "odt", "ogg", "onnx", "org", "otf", "out", "p12", "parquet", "patch", "pb", "pdb", "pdf",
    "pem", "pfx", "php", "pickle", "pid", "pkl", "pl", "plist", "png", "po", "podspec", "pom", "ppt", "pptx", "prisma",
    "properties", "proto", "ps1", "psd", "psm1", "pt", "pth", "pub", "py", "pyc", "pyi", "pyx", "r", "rar", "rb", "rdb", "rds",
    "rlib", "rmd", "rpm", "rs", "rst", "rtf", "s", "safetensors", "sass", "scala", "scss", "service", "sh", "sln", "snap", "so",
    "sock", "socket", "sql", "sqlite", "sqlite3", "srt", "sum", "svelte", "svg", "swift", "tar", "tex", "tf", "tfstate", "tfvars",
    "tgz", "tiff", "timer", "tmp", "toml", "tpl", "ts", "tsv", "tsx", "ttf", "txt", "vb", "vert", "vhd", "vue", "war", "wasm",
    "wat", "wav", "webm", "webp", "whl", "woff", "woff2", "xcodeproj", "xls", "xlsx", "xml", "xsd", "xz", "yaml", "yml", "zig",
    "zip", "zsh", "zst",
};
static_assert(std::is_sorted(std::begin(extensions), std::end(extensions)));

// Of those, the ones that members of objects and domains have too: a name without a folder needs
// more than such an ending.
inline constexpr std::string_view extensions_of_members[] = {
    "class", "env", "fs", "key", "lock", "map", "mod", "o", "org", "out", "r", "s", "service", "so", "socket", "sum", "timer",
};
static_assert(std::is_sorted(std::begin(extensions_of_members), std::end(extensions_of_members)));

// Files that have no ending, or one that says little.
inline constexpr std::string_view file_names[] = {
    ".bash_profile", ".bashrc", ".clang-format", ".clang-tidy", ".dockerignore", ".editorconfig", ".env", ".eslintrc",
    ".gitattributes", ".gitconfig", ".gitignore", ".gitmodules", ".npmrc", ".nvmrc", ".prettierrc", ".profile", ".vimrc",
    ".zshrc", "a.out", "authorized_keys", "brewfile", "cargo.lock", "codeowners", "composer.lock", "containerfile", "dockerfile",
    "flake.lock", "gemfile", "gemfile.lock", "gnumakefile", "go.mod", "go.sum", "go.work", "id_ed25519", "id_rsa", "jenkinsfile",
    "justfile", "known_hosts", "makefile", "nohup.out", "package-lock.json", "pipfile", "pipfile.lock", "podfile", "poetry.lock",
    "procfile", "rakefile", "server.key", "tls.key", "uv.lock", "vagrantfile", "yarn.lock",
};
static_assert(std::is_sorted(std::begin(file_names), std::end(file_names)));

// Products that are spelled like files.
inline constexpr std::string_view not_files[] = {
    "alpine.js", "angular.js", "backbone.js", "chart.js", "d3.js", "discord.js", "ember.js", "express.js", "moment.js", "nest.js",
    "next.js", "node.js", "nuxt.js", "p5.js", "pdf.js", "react.js", "require.js", "solid.js", "three.js", "vue.js",
};
static_assert(std::is_sorted(std::begin(not_files), std::end(not_files)));

// Whose members are spelled like files: console.log, self.db.
inline constexpr std::string_view objects[] = {
    "cls", "console", "document", "math", "np", "numpy", "os", "process", "self", "super", "sys", "system", "this", "torch",
    "window",
};
static_assert(std::is_sorted(std::begin(objects), std::end(objects)));

// Where absolute paths begin. What begins otherwise, and has no ending, is more likely a route of a
// web service.
inline constexpr std::string_view roots[] = {
    "app", "applications", "bin", "boot", "build", "builds", "code", "content", "data", "dev", "etc", "home", "lib", "lib32",
    "lib64", "library", "media", "mnt", "nix", "opt", "private", "proc", "project", "projects", "repo", "root", "run", "sbin",
    "snap", "src", "srv", "sys", "system", "testbed", "tmp", "users", "usr", "var", "volumes", "work", "workdir", "workspace",
    "workspaces",
};
static_assert(std::is_sorted(std::begin(roots), std::end(roots)));

// Folders of projects: a path of three or more names that begins with one needs no ending.
inline constexpr std::string_view folders[] = {
    ".circleci", ".config", ".github", ".gitlab", ".vscode", "__tests__", "app", "apps", "assets", "backend", "bin", "client",
    "cmd", "components", "config", "crates", "dist", "docs", "examples", "frontend", "include", "infra", "internal", "lib",
    "libs", "migrations", "modules", "node_modules", "packages", "pkg", "public", "scripts", "server", "services", "spec", "src",
    "static", "target", "templates", "test", "tests", "third_party", "tools", "vendor", "web",
};
static_assert(std::is_sorted(std::begin(folders), std::end(folders)));

// Of those, the ones that nobody writes as one side of an alternative: a path of two names will do.
inline constexpr std::string_view certain_folders[] = {
    ".circleci", ".github", ".gitlab", ".vscode", "__tests__", "apps", "cmd", "crates", "dist", "docs", "include", "internal",
    "migrations", "node_modules", "packages", "pkg", "scripts", "src", "tests", "third_party", "vendor",
};
static_assert(std::is_sorted(std::begin(certain_folders), std::end(certain_folders)));

// Last names of hosts, for addresses written without a scheme.
inline constexpr std::string_view top_domains[] = {
    "ai", "app", "au", "br", "ca", "ch", "cn", "co", "com", "de", "dev", "edu", "es", "eu", "fr", "gov", "info", "io", "it", "jp",
    "kr", "net", "nl", "org", "ru", "se", "site", "tech", "tv", "tw", "uk", "us", "xyz",
};
static_assert(std::is_sorted(std::begin(top_domains), std::end(top_domains)));

// What stands behind one of these is a route.
inline constexpr std::string_view http_verbs[] = {
    "connect", "delete", "get", "head", "options", "patch", "post", "put",
};
static_assert(std::is_sorted(std::begin(http_verbs), std::end(http_verbs)));

// Programs by whose name a line or `code` is taken for a command.
inline constexpr std::string_view commands[] = {
    "act", "adb", "airflow", "alembic", "ansible", "ansible-playbook", "apk", "apt", "apt-get", "awk", "aws", "az", "base64",
    "bash", "bat", "bazel", "black", "brew", "buck2", "bun", "bundle", "bunx", "cargo", "cat", "cd", "chmod", "chown", "clang",
    "clang++", "clang-format", "clang-tidy", "cmake", "cmd", "code", "composer", "conda", "cp", "createdb", "crontab", "ctest",
    "curl", "cut", "dart", "date", "db2", "dd", "deno", "df", "diff", "dig", "dir", "django-admin", "dnf", "docker",
    "docker-compose", "dotnet", "du", "echo", "emacs", "env", "eslint", "etcdctl", "expo", "export", "fd", "ffmpeg", "find",
    "firebase", "flake8", "flask", "flutter", "flyctl", "forge", "free", "g++", "gcc", "gcloud", "gdb", "gem", "gh", "git",
    "glab", "go", "gofmt", "gpg", "gradle", "grep", "gsutil", "gunicorn", "gunzip", "gzip", "head", "helm", "heroku", "hg",
    "htop", "hugo", "ifconfig", "initdb", "ip", "iptables", "isort", "java", "javac", "jest", "journalctl", "jq", "jupyter",
    "just", "k6", "k9s", "kill", "killall", "kubectl", "kustomize", "less", "lldb", "ln", "locust", "ls", "lsof", "make", "mamba",
    "meson", "minikube", "mix", "mkdir", "mongo", "mongosh", "mount", "mv", "mvn", "mvnw", "mypy", "mysql", "mysqldump", "nano",
    "nc", "netlify", "netstat", "next", "nginx", "ninja", "nmap", "node", "npm", "npx", "nslookup", "nuget", "nvidia-smi", "nvim",
    "nx", "openssl", "perf", "perl", "pg_dump", "pg_restore", "pgbench", "php", "ping", "pip", "pip3", "pipenv", "pipx",
    "playwright", "pnpm", "podman", "poetry", "powershell", "pre-commit", "prettier", "prisma", "ps", "psql", "pulumi", "pwd",
    "pwsh", "py", "pytest", "python", "python2", "python3", "rails", "rake", "rclone", "readlink", "redis-benchmark", "redis-cli",
    "rg", "rm", "rmdir", "rollup", "rsync", "ruby", "ruff", "rustc", "rustup", "sbt", "scp", "screen", "sed", "serve", "service",
    "setx", "sh", "sort", "source", "spark-submit", "sqlcmd", "sqlite3", "ss", "ssh", "ssh-keygen", "stat", "strace", "streamlit",
    "stripe", "su", "sudo", "supabase", "svn", "swift", "systemctl", "tail", "tar", "taskkill", "tasklist", "tcpdump", "tee",
    "terraform", "terragrunt", "test", "tmux", "top", "touch", "tox", "tr", "traceroute", "tree", "tsc", "tsx", "turbo",
    "typeset", "ulimit", "unset", "unzip", "uv", "uvicorn", "valgrind", "vercel", "vi", "vim", "vite", "vitest", "vue", "wc",
    "webpack", "wget", "where", "which", "whoami", "winget", "wrangler", "xargs", "xcodebuild", "xxd", "yarn", "yq", "yum", "zip",
    "zsh",
};
static_assert(std::is_sorted(std::begin(commands), std::end(commands)));

// Of those, the ones that are also words: what follows must not read like a sentence.
inline constexpr std::string_view english_programs[] = {
    "act", "black", "code", "cut", "date", "diff", "dir", "echo", "env", "expo", "export", "find", "flask", "forge", "free", "go",
    "head", "ip", "just", "kill", "less", "make", "mount", "next", "node", "open", "patch", "perf", "play", "ps", "read",
    "rollup", "screen", "serve", "service", "sort", "source", "split", "stat", "swift", "test", "top", "touch", "tree", "turbo",
    "where", "which",
};
static_assert(std::is_sorted(std::begin(english_programs), std::end(english_programs)));

// Words of sentences that arguments of commands hardly ever are.
inline constexpr std::string_view function_words[] = {
    "a", "about", "also", "an", "and", "are", "as", "be", "because", "but", "can", "for", "from", "has", "have", "how", "if",
    "into", "is", "it", "its", "my", "no", "not", "of", "on", "or", "our", "should", "so", "sure", "that", "the", "their", "then",
    "there", "these", "they", "this", "those", "to", "was", "we", "what", "when", "which", "will", "with", "you", "your",
};
static_assert(std::is_sorted(std::begin(function_words), std::end(function_words)));

// Lines of a script that are no command by themselves.
inline constexpr std::string_view script_keywords[] = {
    "(", ")", ";;", "begin", "do", "done", "else", "end", "esac", "fi", "then", "{", "}",
};
static_assert(std::is_sorted(std::begin(script_keywords), std::end(script_keywords)));

// Languages of code blocks whose lines are commands.
inline constexpr std::string_view shells[] = {
    "bash", "bat", "batch", "cmd", "fish", "powershell", "ps", "ps1", "pwsh", "sh", "shell", "zsh",
};
static_assert(std::is_sorted(std::begin(shells), std::end(shells)));

// Languages of code blocks that hold what a tool printed.
inline constexpr std::string_view printed_languages[] = {
    "console", "log", "logs", "none", "output", "plain", "plaintext", "shell-session", "stacktrace", "stderr", "stdout",
    "terminal", "text", "traceback", "txt",
};
static_assert(std::is_sorted(std::begin(printed_languages), std::end(printed_languages)));

// Units of numbers, in lower case; Chinese ones stand in digest_numbers.cpp.
inline constexpr std::string_view units[] = {
    "%", "b", "bit", "bits", "byte", "bytes", "characters", "chars", "cm", "cny", "commits", "connections", "core", "cores",
    "cpu", "cpus", "d", "day", "days", "db", "dollars", "dpi", "eur", "events", "fps", "ft", "g", "gb", "gb/s", "gbps", "gflops",
    "ghz", "gib", "h", "hour", "hours", "hr", "hrs", "hz", "items", "iterations", "k", "kb", "kb/s", "kbps", "kg", "khz", "kib",
    "km", "kw", "kwh", "lines", "loc", "m", "ma", "mb", "mb/s", "mbps", "messages", "mg", "mhz", "mi", "mib", "min", "mins",
    "minute", "minutes", "ml", "mm", "mo", "month", "months", "ms", "mv", "nodes", "ns", "ops", "ops/s", "pages", "parameters",
    "params", "partitions", "percent", "pods", "points", "ppm", "pt", "px", "qps", "queries", "records", "rem", "replicas",
    "req/s", "requests", "requests/s", "retries", "rows", "rpm", "rps", "s", "samples", "sec", "second", "seconds", "secs",
    "shards", "tb", "tests", "threads", "tib", "times", "token", "tokens", "tokens/s", "tps", "tx/s", "us", "usd", "users", "v",
    "vcpu", "vcpus", "w", "warnings", "week", "weeks", "words", "workers", "x", "year", "years", "µs",
};
static_assert(std::is_sorted(std::begin(units), std::end(units)));

// Of those, the ones that must touch their number.
inline constexpr std::string_view short_units[] = {
    "b", "d", "g", "h", "k", "m", "s", "v", "w", "x",
};
static_assert(std::is_sorted(std::begin(short_units), std::end(short_units)));

// clang-format on

}  // namespace undertext::digest
