#include "rooftile/sim/checked/shared_variables.h"

#include <cxxabi.h>
#include <elf.h>
#include <link.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <memory>
#include <string_view>

namespace rooftile::simt::checked {
namespace {

// What is in namespace rooftile::checked and thread-local is a __shared__ variable.
constexpr std::string_view kNamespace = "8rooftile7checked";

template <class T>
bool read_at(std::ifstream& file, std::uint64_t offset, T* data, std::size_t count) {
  file.seekg(static_cast<std::streamoff>(offset));
  file.read(reinterpret_cast<char*>(data), static_cast<std::streamsize>(count * sizeof(T)));
  return file.good();
}

std::string variable_name(const char* symbol) {
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> demangled(
      abi::__cxa_demangle(symbol, nullptr, nullptr, &status), std::free);
  std::string name = demangled != nullptr ? demangled.get() : symbol;
  const std::size_t colon = name.rfind("::");
  return colon == std::string::npos ? name : name.substr(colon + 2);
}

std::vector<SharedVariable> read_variables() {
  std::vector<SharedVariable> variables;
  std::ifstream file("/proc/self/exe", std::ios::binary);
  Elf64_Ehdr header{};
  if (!read_at(file, 0, &header, 1) || std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0) return variables;
  std::vector<Elf64_Shdr> sections(header.e_shnum);
  if (!read_at(file, header.e_shoff, sections.data(), sections.size())) return variables;
  for (const Elf64_Shdr& section : sections) {
    if (section.sh_type != SHT_SYMTAB) continue;
    std::vector<Elf64_Sym> symbols(section.sh_size / sizeof(Elf64_Sym));
    std::string names(sections[section.sh_link].sh_size, '\0');
    if (!read_at(file, section.sh_offset, symbols.data(), symbols.size()) ||
        !read_at(file, sections[section.sh_link].sh_offset, names.data(), names.size())) {
      return variables;
    }
    for (const Elf64_Sym& symbol : symbols) {
      const char* name = names.c_str() + symbol.st_name;
      if (ELF64_ST_TYPE(symbol.st_info) == STT_TLS && symbol.st_shndx != SHN_UNDEF &&
          std::string_view(name).find(kNamespace) != std::string_view::npos) {
        variables.push_back({symbol.st_value, symbol.st_size, variable_name(name)});
      }
    }
  }
  std::sort(variables.begin(), variables.end(),
            [](const auto& a, const auto& b) { return a.offset < b.offset; });
  return variables;
}

struct Block {
  std::uintptr_t address = 0;
  std::size_t bytes = 0;
};

// The program itself is the first object that is reported.
int take_program(dl_phdr_info* info, std::size_t, void* data) {
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    if (info->dlpi_phdr[i].p_type != PT_TLS) continue;
    *static_cast<Block*>(data) = {reinterpret_cast<std::uintptr_t>(info->dlpi_tls_data),
                                  info->dlpi_phdr[i].p_memsz};
  }
  return 1;
}

Block program_block() {
  Block block;
  dl_iterate_phdr(take_program, &block);
  return block;
}

}  // namespace

SharedVariables::SharedVariables() : variables_(read_variables()), block_bytes_(program_block().bytes) {
  index_.resize(block_bytes_ / kGranule + 1);
  for (std::size_t v = variables_.size(); v-- > 0;) {
    const SharedVariable& variable = variables_[v];
    for (std::size_t at = variable.offset / kGranule;
         at * kGranule < variable.offset + variable.bytes && at < index_.size(); ++at) {
      index_[at] = static_cast<std::uint16_t>(v + 1);
    }
  }
}

const SharedVariables& SharedVariables::of_program() {
  static const SharedVariables variables;
  return variables;
}

std::uintptr_t SharedVariables::block_address() { return program_block().address; }

const SharedVariable* SharedVariables::find(std::size_t offset) const {
  for (std::size_t v = index_[offset / kGranule] - 1u; v < variables_.size(); ++v) {
    if (variables_[v].offset > offset) break;
    if (offset < variables_[v].offset + variables_[v].bytes) return &variables_[v];
  }
  return nullptr;
}

}  // namespace rooftile::simt::checked
