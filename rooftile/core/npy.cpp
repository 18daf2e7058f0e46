#include "rooftile/core/npy.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

static_assert(std::endian::native == std::endian::little, "the .npy files of Rooftile are little-endian");

namespace rooftile {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr std::size_t kMaxHeader = std::size_t{64} * 1024;
constexpr std::size_t kMaxPreamble = 12;  // magic, version, and a header length of up to four bytes
constexpr std::size_t kDataAlignment = 64;

struct NpyType {
  std::string_view code;  // without the byte order
  DType dtype;
};
constexpr std::array<NpyType, 11> kTypes = {{{"f2", DType::f16},
                                             {"f4", DType::f32},
                                             {"f8", DType::f64},
                                             {"i1", DType::i8},
                                             {"i2", DType::i16},
                                             {"i4", DType::i32},
                                             {"i8", DType::i64},
                                             {"u1", DType::u8},
                                             {"u2", DType::u16},
                                             {"u4", DType::u32},
                                             {"u8", DType::u64}}};

struct NpyHeader {
  DType dtype = DType::f32;
  Extents shape;
  std::size_t data_offset = 0;
};

// Text of a file in a message: bounded, and without control characters that would garble a terminal.
std::string printable(std::string_view text) {
  constexpr std::size_t kLongest = 40;
  std::string result;
  for (const char c : text.substr(0, kLongest)) result += c >= ' ' && c <= '~' ? c : '?';
  return text.size() > kLongest ? result + "..." : result;
}

Result<DType> parse_descr(std::string_view descr) {
  const auto error = [&](const std::string& why) {
    return invalid_argument("dtype '" + printable(descr) + "' " + why);
  };
  if (descr == "|O") return error("is of Python objects: convert the array with a.astype('f4')");
  if (descr.size() < 3) return error("is not a NumPy dtype: the file is damaged");
  const char order = descr.front();
  const std::string_view code = descr.substr(1);
  if (order == '>') return error("is big-endian: convert the array with a.astype(a.dtype.newbyteorder('<'))");
  if (code == "b1") return error("is boolean: convert the array with a.astype('u1')");
  if (order == '<' || order == '|') {
    for (const NpyType& type : kTypes) {
      // NumPy writes '|' for what has no byte order, which is one byte alone.
      if (type.code == code && (order == '<' || size_of(type.dtype) == 1)) return type.dtype;
    }
  }
  return error("is not supported: use a plain f2 f4 f8 i1 i2 i4 i8 u1 u2 u4 or u8 array");
}

// The Python literal {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }, and nothing else of Python.
class HeaderParser {
 public:
  explicit HeaderParser(std::string_view text) : rest_(text) {}

  Result<NpyHeader> parse() {
    ROOFTILE_TRY(expect('{'));
    while (!accept('}')) {
      ROOFTILE_TRY_ASSIGN(const std::string_view key, string());
      ROOFTILE_TRY(expect(':'));
      ROOFTILE_TRY(value_of(key));
      if (accept(',')) continue;
      ROOFTILE_TRY(expect('}'));
      break;
    }
    skip_space();
    if (!rest_.empty())
      return invalid_argument("the header goes on after its closing brace: the file is damaged");
    if (!dtype_ || !fortran_order_ || !shape_) {
      const char* missing = !dtype_ ? "descr" : !fortran_order_ ? "fortran_order" : "shape";
      return invalid_argument("the header has no '" + std::string(missing) + "': the file is damaged");
    }
    if (*fortran_order_) {
      return invalid_argument("the array is in Fortran order: save np.ascontiguousarray(a) instead");
    }
    return NpyHeader{*dtype_, *shape_, 0};
  }

 private:
  Status value_of(std::string_view key) {
    const bool known = key == "descr" || key == "fortran_order" || key == "shape";
    if (!known)
      return invalid_argument("the header has an unknown key '" + printable(key) + "': the file is damaged");
    if ((key == "descr" && dtype_) || (key == "fortran_order" && fortran_order_) ||
        (key == "shape" && shape_)) {
      return invalid_argument("the header has '" + std::string(key) + "' twice: the file is damaged");
    }
    if (key == "descr") {
      if (peek() == '[') {
        return invalid_argument("the dtype is structured: save each field as an array of its own");
      }
      ROOFTILE_TRY_ASSIGN(const std::string_view descr, string());
      ROOFTILE_TRY_ASSIGN(dtype_, parse_descr(descr));
    } else if (key == "fortran_order") {
      ROOFTILE_TRY_ASSIGN(fortran_order_, boolean());
    } else {
      ROOFTILE_TRY_ASSIGN(shape_, tuple());
    }
    return {};
  }

  Result<std::string_view> string() {
    const char quote = peek();
    if (quote != '\'' && quote != '"') return unexpected("a quoted string");
    const std::size_t end = rest_.find(quote, 1);
    if (end == std::string_view::npos) return unexpected("the end of a quoted string");
    const std::string_view text = rest_.substr(1, end - 1);
    rest_.remove_prefix(end + 1);
    return text;
  }

  Result<bool> boolean() {
    skip_space();
    for (const auto& [word, value] :
         {std::pair{std::string_view("True"), true}, {std::string_view("False"), false}}) {
      if (!rest_.starts_with(word)) continue;
      rest_.remove_prefix(word.size());
      return value;
    }
    return unexpected("True or False");
  }

  Result<Extents> tuple() {
    ROOFTILE_TRY(expect('('));
    std::vector<std::int64_t> extents;
    bool comma = false;
    while (!accept(')')) {
      if (!extents.empty() && !comma) return unexpected("a comma or the end of the shape");
      ROOFTILE_TRY_ASSIGN(const std::int64_t extent, integer());
      if (extents.size() == kMaxRank) {
        return invalid_argument("the array has more than " + std::to_string(kMaxRank) +
                                " dimensions: reshape it");
      }
      extents.push_back(extent);
      comma = accept(',');
    }
    // Python reads (3) as a number and (3,) as a tuple.
    if (extents.size() == 1 && !comma) return unexpected("the comma of a one-dimensional shape");
    return Extents(std::span<const std::int64_t>(extents));
  }

  Result<std::int64_t> integer() {
    const char first = peek();
    if (first == '-') return invalid_argument("the shape has a negative extent: the file is damaged");
    if (first < '0' || first > '9') return unexpected("an extent");
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), value);
    if (error != std::errc()) return invalid_argument("an extent of the shape does not fit in 63 bits");
    rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
    return value;
  }

  void skip_space() {
    const std::size_t first = rest_.find_first_not_of(" \t\n");
    rest_.remove_prefix(first == std::string_view::npos ? rest_.size() : first);
  }
  // The next character that is not space; 0 at the end.
  char peek() {
    skip_space();
    return rest_.empty() ? '\0' : rest_.front();
  }
  bool accept(char c) {
    if (peek() != c) return false;
    rest_.remove_prefix(1);
    return true;
  }
  Status expect(char c) {
    if (accept(c)) return {};
    return unexpected("'" + std::string(1, c) + "'");
  }
  Status unexpected(const std::string& wanted) {
    skip_space();
    const std::string found = rest_.empty() ? "its end" : "'" + printable(rest_.substr(0, 12)) + "'";
    return invalid_argument("the header has " + found + " where " + wanted + " must be: the file is damaged");
  }

  std::string_view rest_;
  std::optional<DType> dtype_;
  std::optional<bool> fortran_order_;
  std::optional<Extents> shape_;
};

// `prefix` is the start of the file: all of it, or at least kMaxPreamble + kMaxHeader bytes.
Result<NpyHeader> parse_header(std::span<const std::byte> prefix, std::uint64_t file_size) {
  const auto byte_at = [&](std::size_t i) { return std::to_integer<std::size_t>(prefix[i]); };
  const auto truncated = [] { return invalid_argument("the file ends inside its header: it is truncated"); };

  const std::size_t compared = std::min(prefix.size(), kMagic.size());
  if (prefix.empty() || std::memcmp(prefix.data(), kMagic.data(), compared) != 0) {
    return invalid_argument("this is not a .npy file: save the array with np.save");
  }
  if (prefix.size() < kMagic.size() + 2) return truncated();
  const std::size_t major = byte_at(6);
  const std::size_t minor = byte_at(7);
  if (major < 1 || major > 3 || minor != 0) {
    return invalid_argument(".npy version " + std::to_string(major) + "." + std::to_string(minor) +
                            " is unknown: 1.0, 2.0 and 3.0 are read");
  }
  const std::size_t length_bytes = major == 1 ? 2 : 4;
  const std::size_t header_offset = kMagic.size() + 2 + length_bytes;
  if (prefix.size() < header_offset) return truncated();
  std::size_t length = 0;
  for (std::size_t i = 0; i < length_bytes; ++i) length |= byte_at(kMagic.size() + 2 + i) << (8 * i);
  if (length > kMaxHeader) {
    return invalid_argument("the header claims " + std::to_string(length) + " bytes: the limit is " +
                            std::to_string(kMaxHeader));
  }
  if (prefix.size() < header_offset + length) return truncated();

  HeaderParser parser({reinterpret_cast<const char*>(prefix.data()) + header_offset, length});
  ROOFTILE_TRY_ASSIGN(NpyHeader header, parser.parse());
  header.data_offset = header_offset + length;

  ROOFTILE_TRY_ASSIGN(const std::int64_t numel, checked_numel(header.shape, size_of(header.dtype)));
  const std::uint64_t claimed = static_cast<std::uint64_t>(numel) * size_of(header.dtype);
  const std::uint64_t present = file_size - header.data_offset;
  if (claimed != present) {
    return invalid_argument("shape " + header.shape.to_string() + " of " +
                            std::string(to_string(header.dtype)) + " needs " + std::to_string(claimed) +
                            " bytes of data and the file has " + std::to_string(present) + ": it is " +
                            (present < claimed ? "truncated" : "longer than its header says"));
  }
  return header;
}

Status in_file(const Status& status, const std::string& name) {
  return Status::error(status.code(), name + ": " + status.rule(), status.where());
}

Status errno_error(const std::string& name, std::string_view what, int error) {
  return io_error(name + ": " + std::string(what) + ": " + std::generic_category().message(error));
}

class File {
 public:
  explicit File(int descriptor) : descriptor_(descriptor) {}
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  ~File() {
    if (descriptor_ >= 0) (void)::close(descriptor_);
  }
  [[nodiscard]] bool is_open() const { return descriptor_ >= 0; }
  [[nodiscard]] int get() const { return descriptor_; }
  // Where a file system reports a failure to store at last.
  [[nodiscard]] bool close() { return ::close(std::exchange(descriptor_, -1)) == 0; }

 private:
  int descriptor_;
};

Status read_at(const File& file, const std::string& name, std::byte* data, std::size_t bytes,
               std::size_t offset) {
  while (bytes > 0) {
    const ssize_t got = ::pread(file.get(), data, bytes, static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return errno_error(name, "cannot be read", errno);
    if (got == 0) return io_error(name + ": it became shorter while it was read");
    data += got;
    bytes -= static_cast<std::size_t>(got);
    offset += static_cast<std::size_t>(got);
  }
  return {};
}

Status write_all(const File& file, const std::string& name, const void* data, std::size_t bytes) {
  const auto* next = static_cast<const std::byte*>(data);
  while (bytes > 0) {
    const ssize_t put = ::write(file.get(), next, bytes);
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return errno_error(name, "cannot be written", errno);
    next += put;
    bytes -= static_cast<std::size_t>(put);
  }
  return {};
}

std::string_view code_of(DType dtype) {
  for (const NpyType& type : kTypes) {
    if (type.dtype == dtype) return type.code;
  }
  return size_of(dtype) == 2 ? "u2" : "u1";  // bf16 and the 8-bit floats: their bits
}

std::string make_header(DType dtype, const Extents& shape) {
  std::string header = "{'descr': '";
  header += size_of(dtype) == 1 ? '|' : '<';
  header += code_of(dtype);
  header += "', 'fortran_order': False, 'shape': (";
  for (int i = 0; i < shape.rank(); ++i)
    header += std::to_string(shape[i]) + (i + 1 < shape.rank() ? ", " : "");
  header += shape.rank() == 1 ? ",), }" : "), }";
  const std::size_t preamble = kMagic.size() + 4;
  const std::size_t total =
      (preamble + header.size() + 1 + kDataAlignment - 1) / kDataAlignment * kDataAlignment;
  header.append(total - preamble - header.size() - 1, ' ');
  header += '\n';
  const std::size_t length = header.size();
  std::string file(kMagic);
  file += {'\1', '\0', static_cast<char>(length & 0xff), static_cast<char>(length >> 8)};
  return file + header;
}

// A name beside `path` that no other thread or process takes at the same time.
std::string temporary_name(const std::string& path) {
  static std::atomic<unsigned> counter{0};
  const auto ticks = std::chrono::steady_clock::now().time_since_epoch().count();
  return path + ".tmp." + std::to_string(::getpid()) + "." + std::to_string(counter++) + "." +
         std::to_string(ticks);
}

Status write_and_rename(File& file, const std::string& temporary, const std::string& path,
                        const std::string& header, const ConstTensorView& tensor) {
  ROOFTILE_TRY(write_all(file, path, header.data(), header.size()));
  ROOFTILE_TRY(
      write_all(file, path, tensor.data, static_cast<std::size_t>(tensor.numel()) * size_of(tensor.dtype)));
  if (::fsync(file.get()) != 0) return errno_error(path, "cannot be stored", errno);
  if (!file.close()) return errno_error(path, "cannot be stored", errno);
  if (::rename(temporary.c_str(), path.c_str()) != 0) return errno_error(path, "cannot be replaced", errno);
  return {};
}

}  // namespace

Result<HostTensor> parse_npy(std::span<const std::byte> file, const std::string& name) {
  const Result<NpyHeader> header = parse_header(file, file.size());
  if (!header.ok()) return in_file(header.status(), name);
  Result<HostTensor> tensor = HostTensor::create(header->dtype, header->shape);
  if (!tensor.ok()) return in_file(tensor.status(), name);
  if (tensor->bytes() > 0) std::memcpy(tensor->data(), file.data() + header->data_offset, tensor->bytes());
  return tensor;
}

Result<HostTensor> read_npy(const std::string& path) {
  // Not blocking: opening a pipe that nobody writes to would wait for ever.
  const File file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!file.is_open()) return errno_error(path, "cannot be opened", errno);
  struct stat info {};
  if (::fstat(file.get(), &info) != 0) return errno_error(path, "cannot be read", errno);
  if (!S_ISREG(info.st_mode))
    return io_error(path + ": it is not a regular file: give the path of a .npy file");

  const auto file_size = static_cast<std::uint64_t>(info.st_size);
  std::vector<std::byte> prefix(std::min<std::uint64_t>(file_size, kMaxPreamble + kMaxHeader));
  ROOFTILE_TRY(read_at(file, path, prefix.data(), prefix.size(), 0));
  const Result<NpyHeader> header = parse_header(prefix, file_size);
  if (!header.ok()) return in_file(header.status(), path);
  Result<HostTensor> tensor = HostTensor::create(header->dtype, header->shape);
  if (!tensor.ok()) return in_file(tensor.status(), path);
  ROOFTILE_TRY(
      read_at(file, path, static_cast<std::byte*>(tensor->data()), tensor->bytes(), header->data_offset));
  return tensor;
}

Status write_npy(const std::string& path, const ConstTensorView& tensor) {
  ROOFTILE_TRY(check_view(tensor, "tensor"));
  if (tensor.device.kind == DeviceKind::cuda) {
    return invalid_argument(path + ": the tensor is on " + to_string(tensor.device) +
                            ": copy it to the host first");
  }
  if (!tensor.contiguous())
    return invalid_argument(path + ": the tensor has gaps: copy it to a row-major one first");
  struct stat info {};
  if (::stat(path.c_str(), &info) == 0 && !S_ISREG(info.st_mode)) {
    // The rename would replace a device such as /dev/null by a file.
    return io_error(path + ": it is there and not a regular file: give the path of a .npy file");
  }
  const std::string temporary = temporary_name(path);
  File file(::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
  if (!file.is_open()) return errno_error(path, "a file cannot be made in its folder", errno);
  const Status status =
      write_and_rename(file, temporary, path, make_header(tensor.dtype, tensor.shape), tensor);
  if (!status.ok()) (void)::unlink(temporary.c_str());
  return status;
}

}  // namespace rooftile
