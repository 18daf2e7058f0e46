#include "rooftile/sim/spin_guard.h"

#include <signal.h>
#include <ucontext.h>

#include <algorithm>
#include <string>
#include <vector>

#include "rooftile/sim/fiber.h"
#include "rooftile/sim/program_symbols.h"
#include "rooftile/sim/thread.h"

namespace rooftile::simt::detail {
namespace {

// Ignored where nobody handles it, so that one too late does no harm.
constexpr int kSignal = SIGURG;
constexpr std::chrono::milliseconds kPeriod{50};

#if defined(__x86_64__) && !ROOFTILE_SIM_ASAN
constexpr bool kIsSupported = true;

struct KernelCode {
  std::uintptr_t first;
  std::uintptr_t end;
  std::string name;
};

// Read by the signal's handler: complete before the first signal.
std::vector<KernelCode>& kernel_code() {
  static std::vector<KernelCode> code;
  return code;
}

thread_local const KernelCode* spinning_in = nullptr;

void report_spinning() {
  report_failure(
      "livelock: " + demangled(spinning_in->name.c_str()) +
      " turns in a loop, or reads memory until it changes: read it by a polling helper; `rooftile sim` "
      "on a rung names the line");
}

[[noreturn]] void abandon_spinning() {
  report_spinning();
  abandon_thread();
}

// Only a thread that is in a kernel's own code is taken out of it: it holds no lock of anybody.
void take_out(int, siginfo_t*, void* context) {
  if (current_thread == nullptr) return;
  auto& registers = static_cast<ucontext_t*>(context)->uc_mcontext.gregs;
  const auto pc = static_cast<std::uintptr_t>(registers[REG_RIP]);
  const std::vector<KernelCode>& code = kernel_code();
  const auto behind = std::upper_bound(code.begin(), code.end(), pc,
                                       [](std::uintptr_t at, const KernelCode& c) { return at < c.first; });
  if (behind == code.begin() || pc >= (behind - 1)->end) return;
  spinning_in = &*(behind - 1);
  // As if the kernel had called it; the red zone is no matter to a thread that never goes on.
  const auto stack = static_cast<std::uintptr_t>(registers[REG_RSP]);
  registers[REG_RSP] = static_cast<greg_t>((stack - 256) / 16 * 16 - 8);
  registers[REG_RIP] = static_cast<greg_t>(reinterpret_cast<std::uintptr_t>(&abandon_spinning));
}

void prepare() {
  if (!kernel_code().empty()) return;
  for_each_kernel_symbol("sim", [](const ProgramSymbol& symbol) {
    if (symbol.is_code && symbol.bytes > 0)
      kernel_code().push_back({symbol.place, symbol.place + symbol.bytes, symbol.name});
  });
  std::sort(kernel_code().begin(), kernel_code().end(),
            [](const KernelCode& a, const KernelCode& b) { return a.first < b.first; });
  struct sigaction action {};
  action.sa_sigaction = take_out;
  action.sa_flags = SA_SIGINFO | SA_RESTART;
  sigaction(kSignal, &action, nullptr);
}
#else
constexpr bool kIsSupported = false;
void prepare() {}
#endif

}  // namespace

SpinGuard& SpinGuard::instance() {
  static SpinGuard guard;
  return guard;
}

SpinGuard::~SpinGuard() {
  {
    const std::scoped_lock lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void SpinGuard::enter(const std::atomic<std::uint64_t>& heartbeat, std::chrono::milliseconds patience) {
  if (!kIsSupported) return;
  const std::scoped_lock lock(mutex_);
  const auto now = std::chrono::steady_clock::now();
  watched_[&heartbeat] = {pthread_self(), patience, heartbeat.load(std::memory_order_relaxed), now};
  if (!thread_.joinable()) thread_ = std::thread([this] { watch(); });
  if (watched_.size() == 1) changed_.notify_all();
}

void SpinGuard::leave(const std::atomic<std::uint64_t>& heartbeat) {
  if (!kIsSupported) return;
  const std::scoped_lock lock(mutex_);
  watched_.erase(&heartbeat);
}

void SpinGuard::watch() {
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    if (watched_.empty()) {
      changed_.wait(lock);
      continue;
    }
    changed_.wait_for(lock, kPeriod);
    for (auto& [heartbeat, watched] : watched_) look(*heartbeat, watched);
  }
}

// The lock is held: the thread cannot have left.
void SpinGuard::look(const std::atomic<std::uint64_t>& heartbeat, Watched& watched) {
  const auto now = std::chrono::steady_clock::now();
  const std::uint64_t beats = heartbeat.load(std::memory_order_relaxed);
  if (beats != watched.seen) {
    watched.seen = beats;
    watched.seen_at = now;
  } else if (now - watched.seen_at > watched.patience) {
    prepare();
    pthread_kill(watched.thread, kSignal);
  }
}

}  // namespace rooftile::simt::detail
