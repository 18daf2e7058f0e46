"""As much of torch as a transposition and rms_norm without a weight take, slowly, and its mistakes as $FAKE_TORCH names them. With $FAKE_ARCHS there is
a GPU of compute capability 9.0 and a torch built for these: the host, whose events have the host's time."""
import contextlib
import ctypes
import os
import struct
import sys
import time

MISTAKE = os.environ.get("FAKE_TORCH", "")
__version__ = "1.13.1" if MISTAKE == "old" else "2.99.0+fake"
uint8, int16, int32, int64, float32, complex128 = 1, 2, 4, 8, 4.0, 16

print("libraries print, and this must not be taken for an answer")
if MISTAKE == "crash":
    sys.stderr.write("a library is broken\n")
    sys.stderr.flush()
    os._exit(7)
if MISTAKE == "hang":
    time.sleep(1000)
if MISTAKE == "broken":
    raise RuntimeError("libfake.so: cannot open /opt/vendor/lib/libfake.so")
if MISTAKE == "garbage":
    for descriptor in range(3, 16):
        with contextlib.suppress(OSError):
            os.write(descriptor, b"no answer\n")


class device:
    def __init__(self, name):
        self.type = name.partition(":")[0]


class Event:
    def __init__(self, enable_timing=False):
        self.is_timed = enable_timing

    def record(self):
        self.at = time.perf_counter()

    def query(self):
        return MISTAKE == "late"

    def elapsed_time(self, stop):
        assert self.is_timed and stop.is_timed
        return 1e3 * (stop.at - self.at)


class CUDAGraph:
    def replay(self):
        assert self.was_captured


@contextlib.contextmanager
def capture(graph):
    if MISTAKE == "uncaptured":
        raise RuntimeError("operation not permitted when stream is capturing")
    yield
    graph.was_captured = True


class cuda:
    Event, CUDAGraph, graph = Event, CUDAGraph, staticmethod(capture)
    is_available = staticmethod(lambda: "FAKE_ARCHS" in os.environ)
    get_arch_list = staticmethod(lambda: os.environ["FAKE_ARCHS"].split())
    get_device_capability = staticmethod(lambda _: (9, 0))
    set_device = set_stream = synchronize = staticmethod(lambda *_: None)
    Stream = staticmethod(lambda: None)
    is_current_stream_capturing = staticmethod(lambda: False)


class Tensor:
    def __init__(self, memory, dtype, shape, strides, first):  # first and strides in elements
        self.memory, self.dtype, self.shape, self.strides, self.first = memory, dtype, shape, strides, first

    def element_size(self):
        return int(self.dtype)

    def numel(self):
        count = 1
        for extent in self.shape:
            count *= extent
        return count

    def data_ptr(self):
        return ctypes.addressof(self.memory) + self.first * self.element_size()

    def __getitem__(self, part):
        return Tensor(self.memory, self.dtype, [self.shape[0] - part.start], [1], self.first + part.start)

    def view(self, dtype):
        scale = self.element_size() / int(dtype)
        shape = [int(self.shape[0] * scale)] if scale != 1 else self.shape
        return Tensor(self.memory, dtype, shape, self.strides, int(self.first * scale))

    def transpose(self, x, y):
        shape, strides = list(self.shape), list(self.strides)
        shape[x], shape[y] = shape[y], shape[x]
        strides[x], strides[y] = strides[y], strides[x]
        return Tensor(self.memory, self.dtype, shape, strides, self.first)

    def places(self):
        places = [self.first]
        for extent, stride in zip(self.shape, self.strides):
            places = [place + i * stride for place in places for i in range(extent)]
        return [place * self.element_size() for place in places]

    def copy_(self, source):
        size = self.element_size()
        for to, at in zip(self.places(), source.places()):
            self.memory[to:to + size] = source.memory[at:at + size]
        if MISTAKE == "wrong" and len(self.shape) > 1:
            self.memory[self.places()[-1] + size - 1] ^= 128
        if MISTAKE == "raises" and len(self.shape) > 1:
            raise RuntimeError("not implemented for 'Float'")
        return self

    def fill_(self, value):
        if self.numel() > 1 << 20:
            return  # it flushes caches
        for place in self.places():
            self.memory[place] = value

    def clone(self):
        return empty(self.numel(), self.dtype, None).copy_(self)

    def cpu(self):
        return self

    def bitwise_xor_(self, _):
        return self

    def add_(self, _):
        return self

    sum = cpu


def empty(count, dtype=uint8, device=None):
    return Tensor((ctypes.c_ubyte * max(count * int(dtype), 1))(), dtype, [count], [1], 0)


ones = empty


def as_strided(tensor, shape, strides, first):
    return Tensor(tensor.memory, tensor.dtype, shape, strides, first)


def compile(function, dynamic=None):
    return function


def rms_norm(x, columns, weight, eps):
    """A tensor of its own, of float32."""
    assert weight is None
    y, places = empty(x.numel(), float32, None), x.places()
    for row in range(0, len(places), columns[0]):
        values = [struct.unpack_from("f", x.memory, at)[0] for at in places[row:row + columns[0]]]
        deviation = (sum(value * value for value in values) / len(values) + eps) ** 0.5
        for column, value in enumerate(values):
            struct.pack_into("f", y.memory, 4 * (row + column), value / deviation)
    return y


class nn:
    class functional:
        rms_norm = staticmethod(rms_norm)
