#include "rooftile/sim/checked/async_agents.h"

#include <algorithm>

namespace rooftile::simt::checked {

using detail::CopyGroups;

namespace {

constexpr unsigned kLastAgent = 0xffff;    // of a mark's 16 bits
constexpr std::size_t kMostCommits = 256;  // more than any wait leaves pending
constexpr std::size_t kForgottenCommits = 128;

}  // namespace

void AsyncAgents::start() {
  next_agent_ = kFirstAgent;
  mbarriers_.clear();
  threads_.clear();
}

// Those beyond the last share one: waits may then be believed to cover more than they do.
unsigned AsyncAgents::new_agent() { return next_agent_ < kLastAgent ? next_agent_++ : kLastAgent; }

AsyncAgents::AtMbarrier& AsyncAgents::at(const void* mbarrier) {
  const auto [place, is_new] = mbarriers_.try_emplace(mbarrier);
  if (is_new) place->second.agent = new_agent();
  return place->second;
}

AsyncAgents::OfThread& AsyncAgents::of(CopyGroups groups, unsigned thread) {
  const auto [place, is_new] = threads_.try_emplace({groups, thread});
  if (is_new) place->second.agent = new_agent();
  return place->second;
}

unsigned AsyncAgents::issue(const void* mbarrier, unsigned thread, const SharedKnowledge& known) {
  arrive(mbarrier, thread, known);  // the copy starts after what its thread knew
  return at(mbarrier).agent;
}

unsigned AsyncAgents::issue(CopyGroups groups, unsigned thread) { return of(groups, thread).agent; }

void AsyncAgents::initialise(const void* mbarrier) {
  AtMbarrier& here = at(mbarrier);
  here.phase = {};
  here.complete = {};
}

void AsyncAgents::arrive(const void* mbarrier, unsigned thread, const SharedKnowledge& known) {
  AtMbarrier& here = at(mbarrier);
  LaneClocks::join(here.phase.clock, clocks_.knowledge(thread));
  here.phase.grid = GridClocks::joined(here.phase.grid, known);
}

void AsyncAgents::complete_phase(const void* mbarrier) {
  AtMbarrier& here = at(mbarrier);
  LaneClocks::join(here.complete.clock, here.phase.clock);
  clocks_.set(here.complete.clock, here.agent, clocks_.advance());
  here.complete.grid = GridClocks::joined(here.complete.grid, here.phase.grid);
  here.phase = {};
}

SharedKnowledge AsyncAgents::pass(const void* mbarrier, unsigned thread) {
  const AtMbarrier& here = at(mbarrier);
  clocks_.learn(thread, here.complete.clock);
  return here.complete.grid;
}

void AsyncAgents::commit(CopyGroups groups, unsigned thread) {
  OfThread& mine = of(groups, thread);
  std::vector<Stamp>& commits = mine.commits;
  if (commits.size() == kMostCommits) {
    commits.erase(commits.begin(), commits.begin() + static_cast<std::ptrdiff_t>(kForgottenCommits));
    mine.forgotten += kForgottenCommits;
  }
  commits.push_back(clocks_.advance());
}

void AsyncAgents::wait(CopyGroups groups, unsigned thread, std::uint64_t pending) {
  const OfThread& mine = of(groups, thread);
  if (mine.commits.size() <= pending) return;
  clocks_.learn(thread, mine.agent, mine.commits[mine.commits.size() - 1 - pending]);
}

void AsyncAgents::wait_for(CopyGroups groups, unsigned owner, std::uint64_t count, unsigned thread) {
  const OfThread& its = of(groups, owner);
  if (count <= its.forgotten) return;
  clocks_.learn(thread, its.agent, its.commits[count - its.forgotten - 1]);
}

void AsyncAgents::wait_all(CopyGroups groups, unsigned thread) {
  clocks_.learn(thread, of(groups, thread).agent, clocks_.advance());
}

}  // namespace rooftile::simt::checked
