// tests/endpoint/fault_server.py as a child process, for as long as this object lives. What it
// plays stands at the head of that file.
//
//     FaultServer server;
//     summarise_with({.base_url = server.url(), .model = "hang"});
//     server.wait_for_requests(1);   // no sleeping: it says when it has been asked
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <stdexcept>
#include <string>

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

namespace undertext {

class FaultServer {
 public:
  FaultServer() {
    const std::string script =
        (std::filesystem::path(__FILE__).parent_path() / "fault_server.py").string();
    int to_child[2], from_child[2];
    // Not inherited by another server, which would keep this one alive.
    if (pipe2(to_child, O_CLOEXEC) != 0 || pipe2(from_child, O_CLOEXEC) != 0)
      throw std::runtime_error("no pipe");
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, to_child[0], STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&actions, from_child[1], STDOUT_FILENO);
    std::string program = "python3", argument = script;
    char* const arguments[] = {program.data(), argument.data(), nullptr};
    const int fault = posix_spawnp(&child_, "python3", &actions, nullptr, arguments, environ);
    posix_spawn_file_actions_destroy(&actions);
    close(to_child[0]);
    close(from_child[1]);
    stdin_ = to_child[1];
    std::string line;
    for (char c = 0; fault == 0 && read(from_child[0], &c, 1) == 1 && c != '\n';) line += c;
    close(from_child[0]);
    if (!line.starts_with("port ")) {
      stop(fault == 0);
      throw std::runtime_error("python3 " + script + " does not start");
    }
    std::size_t port_digits = 0;
    port_ = std::stoi(line.substr(5), &port_digits);
    https_port_ = std::stoi(line.substr(5 + port_digits));
  }
  FaultServer(const FaultServer&) = delete;
  FaultServer& operator=(const FaultServer&) = delete;
  ~FaultServer() { stop(true); }

  std::string origin() const { return "http://127.0.0.1:" + std::to_string(port_); }
  std::string https_origin() const {
    return "https://127.0.0.1:" + std::to_string(https_port_);
  }  // with a certificate nobody trusts

  // A base URL for chat completions; with a scene, whatever the model is called.
  std::string url(const std::string& scene = {}) const {
    return origin() + (scene.empty() ? "" : "/" + scene) + "/v1";
  }
  // The same for Anthropic messages.
  std::string anthropic_url(const std::string& scene = {}) const {
    return origin() + (scene.empty() ? "" : "/" + scene);
  }

  // Every POST so far, as a JSON array of {"path","headers","body"}.
  std::string requests() const { return get("/requests"); }
  std::size_t request_count() const { return std::stoul(get("/count")); }
  std::string wait_for_requests(std::size_t count) const {
    return get("/wait/" + std::to_string(count));
  }
  // Returns once so many clients have closed their connection, whatever they got.
  void wait_for_gone(std::size_t count) const { get("/gone/" + std::to_string(count)); }

  // Lets the scene wait-for-release answer, now and from now on; until hold().
  void release() const { get("/release"); }
  void hold() const { get("/hold"); }

 private:
  void stop(bool started) {
    close(stdin_);
    if (started) waitpid(child_, nullptr, 0);
  }

  std::string get(const std::string& path) const {
    const int connection = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<std::uint16_t>(port_));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    const std::string request = "GET " + path + " HTTP/1.0\r\n\r\n";
    std::string answer;
    if (connect(connection, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0 &&
        write(connection, request.data(), request.size()) == static_cast<ssize_t>(request.size())) {
      char bytes[4096];
      for (ssize_t size = 0; (size = read(connection, bytes, sizeof bytes)) > 0;)
        answer.append(bytes, static_cast<std::size_t>(size));
    }
    close(connection);
    const std::size_t body = answer.find("\r\n\r\n");
    if (!answer.starts_with("HTTP/1.") || answer.find(" 200 ") > 12 || body == std::string::npos)
      throw std::runtime_error("the fault server does not answer GET " + path);
    return answer.substr(body + 4);
  }

  pid_t child_ = -1;
  int stdin_ = -1;
  int port_ = 0;
  int https_port_ = 0;
};

}  // namespace undertext
