#include "rooftile/lab/base/spawn.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <unistd.h>

#include <cstring>

namespace rooftile::lab {

Result<pid_t> spawn(const std::vector<std::string>& argv, ChildStreams streams, const sigset_t* signals) {
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  if (streams.in < 0)
    posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  else
    posix_spawn_file_actions_adddup2(&files, streams.in, STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&files, streams.out, STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&files, streams.err, STDERR_FILENO);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  short flags = POSIX_SPAWN_SETPGROUP;
  posix_spawnattr_setpgroup(&attributes, 0);
  if (signals != nullptr) {
    flags |= POSIX_SPAWN_SETSIGMASK;
    posix_spawnattr_setsigmask(&attributes, signals);
  }
  posix_spawnattr_setflags(&attributes, flags);
  std::vector<char*> words;
  for (const std::string& word : argv) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  pid_t child = 0;
  const int error = posix_spawn(&child, words[0], &files, &attributes, words.data(), environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&files);
  if (error != 0) return io_error(fmt::format("cannot run {}: {}", argv[0], std::strerror(error)));
  return child;
}

}  // namespace rooftile::lab
