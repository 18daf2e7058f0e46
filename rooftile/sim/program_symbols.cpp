#include "rooftile/sim/program_symbols.h"

#include <cxxabi.h>
#include <elf.h>
#include <link.h>

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

namespace rooftile::simt::detail {
namespace {

struct Program {
  std::uintptr_t base = 0;
  ThreadLocalBlock block;
};

// The program itself is the first object that is reported.
int take_program(dl_phdr_info* info, std::size_t, void* data) {
  auto& program = *static_cast<Program*>(data);
  program.base = info->dlpi_addr;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    if (info->dlpi_phdr[i].p_type != PT_TLS) continue;
    program.block = {reinterpret_cast<std::uintptr_t>(info->dlpi_tls_data), info->dlpi_phdr[i].p_memsz};
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

// A symbol is a kernel's by its namespace, or by its source file: kernels with C linkage have none, and what is
// instantiated from a template stands behind all files.
class SymbolReader {
 public:
  SymbolReader(std::string_view target, const std::function<void(const ProgramSymbol&)>& body)
      : body_(body),
        namespace_("8rooftile" + std::to_string(target.size()) + std::string(target)),
        suffix_("." + std::string(target) + ".cpp") {}

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
    bool in_its_file = false;
    for (const Elf64_Sym& symbol : symbols) {
      const std::string_view name = names.c_str() + symbol.st_name;
      if (ELF64_ST_TYPE(symbol.st_info) == STT_FILE) {
        in_its_file = name.ends_with(suffix_);
      } else if (in_its_file || name.find(namespace_) != std::string_view::npos) {
        take(symbol, name.data());
      }
    }
  }

  void take(const Elf64_Sym& symbol, const char* name) {
    if (symbol.st_shndx == SHN_UNDEF || symbol.st_shndx >= sections_.size()) return;
    const auto type = ELF64_ST_TYPE(symbol.st_info);
    const bool is_thread_local = type == STT_TLS;
    const bool writable = (sections_[symbol.st_shndx].sh_flags & SHF_WRITE) != 0;
    body_({name, is_thread_local ? symbol.st_value : base_ + symbol.st_value, symbol.st_size, is_thread_local,
           writable && (type == STT_OBJECT || type == STT_NOTYPE), type == STT_FUNC});
  }

  const std::function<void(const ProgramSymbol&)>& body_;
  const std::string namespace_;
  const std::string suffix_;
  std::uintptr_t base_ = this_program().base;
  std::ifstream file_{"/proc/self/exe", std::ios::binary};
  std::vector<Elf64_Shdr> sections_;
};

}  // namespace

void for_each_kernel_symbol(std::string_view target, const std::function<void(const ProgramSymbol&)>& body) {
  SymbolReader(target, body).read();
}

std::string demangled(const char* symbol) {
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> text(abi::__cxa_demangle(symbol, nullptr, nullptr, &status),
                                                    std::free);
  return text != nullptr ? text.get() : symbol;
}

ThreadLocalBlock thread_local_block() { return this_program().block; }

}  // namespace rooftile::simt::detail
