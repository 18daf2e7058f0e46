#include "rooftile/sim/checked/kernel_variables.h"

#include <cxxabi.h>
#include <elf.h>
#include <link.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <memory>
#include <string_view>

// The program's __constant__ variables; null where there are none.
extern "C" {
extern const char __start_rooftile_constant __attribute__((weak));  // NOLINT(bugprone-reserved-identifier)
extern const char __stop_rooftile_constant __attribute__((weak));   // NOLINT(bugprone-reserved-identifier)
}

namespace rooftile::simt::checked {
namespace {

// A symbol is a checked kernel's by its namespace, or by its source file: kernels with C linkage have none, and
// what is instantiated from a template stands behind all files.
constexpr std::string_view kNamespace = "8rooftile7checked";
constexpr std::string_view kSourceSuffix = ".checked.cpp";
// What the compiler adds: guards of variables that are constructed, tables of classes.
constexpr std::string_view kCompilersOwn[] = {"_ZGV", "_ZTV", "_ZTI", "_ZTS", "_ZTT", "__tls_guard"};

struct Program {
  std::uintptr_t base = 0;
  std::uintptr_t block = 0;  // thread-local, of the calling OS thread
  std::size_t block_bytes = 0;
};

// The program itself is the first object that is reported.
int take_program(dl_phdr_info* info, std::size_t, void* data) {
  auto& program = *static_cast<Program*>(data);
  program.base = info->dlpi_addr;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    if (info->dlpi_phdr[i].p_type != PT_TLS) continue;
    program.block = reinterpret_cast<std::uintptr_t>(info->dlpi_tls_data);
    program.block_bytes = info->dlpi_phdr[i].p_memsz;
  }
  return 1;
}

Program this_program() {
  Program program;
  dl_iterate_phdr(take_program, &program);
  return program;
}

template <class T>
bool read_at(std::ifstream& file, std::uint64_t offset, T* data, std::size_t count) {
  file.seekg(static_cast<std::streamoff>(offset));
  file.read(reinterpret_cast<char*>(data), static_cast<std::streamsize>(count * sizeof(T)));
  return file.good();
}

std::string demangled(const std::string& symbol) {
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> text(
      abi::__cxa_demangle(symbol.c_str(), nullptr, nullptr, &status), std::free);
  return text != nullptr ? text.get() : symbol;
}

KernelVariable variable_of(const char* symbol, std::uintptr_t place, std::size_t bytes) {
  KernelVariable variable{place, bytes, demangled(symbol), {}};
  if (const std::size_t colon = variable.name.rfind("::"); colon != std::string::npos) {
    // "kernel(float*)::s_tile"; a namespace has no arguments behind its name.
    const bool in_function = colon > 0 && variable.name[colon - 1] == ')';
    if (in_function) variable.function = variable.name.substr(0, colon);
    variable.name.erase(0, colon + 2);
  }
  // "s_tile.0" of a function with C linkage
  variable.name.resize(std::min(variable.name.size(), variable.name.find('.')));
  return variable;
}

bool is_compilers_own(std::string_view symbol) {
  return std::any_of(std::begin(kCompilersOwn), std::end(kCompilersOwn),
                     [&](std::string_view prefix) { return symbol.starts_with(prefix); });
}

class SymbolReader {
 public:
  SymbolReader(std::vector<KernelVariable>& shared, std::vector<KernelVariable>& device)
      : shared_(shared), device_(device), base_(this_program().base) {}

  void read() {
    Elf64_Ehdr header{};
    if (!read_at(file_, 0, &header, 1) || std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0) return;
    sections_.resize(header.e_shnum);
    if (!read_at(file_, header.e_shoff, sections_.data(), sections_.size())) return;
    for (const Elf64_Shdr& section : sections_) {
      if (section.sh_type == SHT_SYMTAB) read_symbols(section);
    }
  }

 private:
  void read_symbols(const Elf64_Shdr& section) {
    std::vector<Elf64_Sym> symbols(section.sh_size / sizeof(Elf64_Sym));
    std::string names(sections_[section.sh_link].sh_size, '\0');
    if (!read_at(file_, section.sh_offset, symbols.data(), symbols.size()) ||
        !read_at(file_, sections_[section.sh_link].sh_offset, names.data(), names.size())) {
      return;
    }
    bool in_checked_file = false;
    for (const Elf64_Sym& symbol : symbols) {
      const std::string_view name = names.c_str() + symbol.st_name;
      if (ELF64_ST_TYPE(symbol.st_info) == STT_FILE) {
        in_checked_file = name.ends_with(kSourceSuffix);
      } else if ((in_checked_file || name.find(kNamespace) != std::string_view::npos) &&
                 !is_compilers_own(name)) {
        take(symbol, name.data());
      }
    }
  }

  void take(const Elf64_Sym& symbol, const char* name) {
    if (symbol.st_shndx >= sections_.size() || symbol.st_size == 0) return;
    if (ELF64_ST_TYPE(symbol.st_info) == STT_TLS && symbol.st_shndx != SHN_UNDEF) {
      shared_.push_back(variable_of(name, symbol.st_value, symbol.st_size));
    } else if (ELF64_ST_TYPE(symbol.st_info) == STT_OBJECT &&
               (sections_[symbol.st_shndx].sh_flags & SHF_WRITE) != 0 &&
               !is_constant_memory(base_ + symbol.st_value)) {
      device_.push_back(variable_of(name, base_ + symbol.st_value, symbol.st_size));
    }
  }

  std::vector<KernelVariable>& shared_;
  std::vector<KernelVariable>& device_;
  std::uintptr_t base_;
  std::ifstream file_{"/proc/self/exe", std::ios::binary};
  std::vector<Elf64_Shdr> sections_;
};

void sort_by_place(std::vector<KernelVariable>& variables) {
  std::sort(variables.begin(), variables.end(),
            [](const auto& a, const auto& b) { return a.place < b.place; });
}

}  // namespace

bool is_constant_memory(std::uintptr_t address) {
  const auto first = reinterpret_cast<std::uintptr_t>(&__start_rooftile_constant);
  return address - first < reinterpret_cast<std::uintptr_t>(&__stop_rooftile_constant) - first;
}

KernelVariables::KernelVariables() : block_bytes_(this_program().block_bytes) {
  SymbolReader(shared_, device_).read();
  sort_by_place(shared_);
  sort_by_place(device_);
  index_.resize(block_bytes_ / kGranule + 1);
  for (std::size_t v = shared_.size(); v-- > 0;) {
    const KernelVariable& variable = shared_[v];
    for (std::size_t at = variable.place / kGranule;
         at * kGranule < variable.place + variable.bytes && at < index_.size(); ++at) {
      index_[at] = static_cast<std::uint16_t>(v + 1);
    }
  }
}

const KernelVariables& KernelVariables::of_program() {
  static const KernelVariables variables;
  return variables;
}

std::uintptr_t KernelVariables::block_address() { return this_program().block; }

const KernelVariable* KernelVariables::find(std::size_t offset) const {
  for (std::size_t v = index_[offset / kGranule] - 1u; v < shared_.size(); ++v) {
    if (shared_[v].place > offset) break;
    if (offset < shared_[v].place + shared_[v].bytes) return &shared_[v];
  }
  return nullptr;
}

}  // namespace rooftile::simt::checked
