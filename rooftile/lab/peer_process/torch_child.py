"""torch_child.py FOLDER: what torch does for an operator, in a process of its own that the lab asks for one sample at a
time (peer_process.h), so that torch's launches take turns with ours.

A request is one line of JSON on stdin, its answer one on stdout: {"id": 1, "ok": {...}}, or "unsupported" or "error"
with the reason in place of "ok". Tensors travel as bytes in files of FOLDER, which is removed at the end. What torch is
called with stands in X_peers_torch.py of the operator's folder:

    def call(torch, t, p): t, the tensors by slot (None: absent), p, the parameters (None: no value); returns a
    function that writes t's outputs by one launch, or several by their peers' names, or raises Unsupported.
"""
import ctypes
import gc
import importlib.util
import json
import os
import re
import shutil
import sys
import time

OLDEST_TORCH = (2, 0)

DTYPES = {
    "f64": "float64", "f32": "float32", "f16": "float16", "bf16": "bfloat16", "f8e4m3": "float8_e4m3fn",
    "f8e5m2": "float8_e5m2", "i8": "int8", "i16": "int16", "i32": "int32", "i64": "int64", "u8": "uint8",
    "u16": "uint16", "u32": "uint32", "u64": "uint64",
}  # fmt: skip

# Mode: is it cold, is nothing left to be written back, is it a graph.
MODES = {
    "stream-cold": (True, False, False),
    "stream-cold-clean": (True, True, False),
    "stream-hot": (False, False, False),
    "graph-cold": (True, False, True),
    "graph-hot": (False, False, True),
    "sustained": (False, False, False),
}

# As rooftile/lab/time/timing.cpp has them, which says why.
LEAD_IN = 4
TAIL = 8
PADDED_US = 500.0
PADDING_WORDS = 1 << 16
SMALLEST_FLUSH = 128 << 20
LARGEST_HOST_FLUSH = 256 << 20
GRAPHS = 4
BURST_US = 5000.0
MOST_IN_BURST = 1000

# The GPU writes the flush's buffer so often before a sample: meanwhile the host enqueues what follows.
FIRST_HOLD = 8
LONGEST_HOLD = 128
IDLE_S = 0.002  # OpenMP's threads spin for a while after their work: not during another's launch


class Unsupported(Exception):
    """Why torch does not do this, here: the row is skipped and says so."""


# untimed: what runs outside of the timed region decides no time, and is in no digest (tools/rung_digest)
class Returned:
    """A call without out=: call() returns its outputs by slot, and run() puts them where they are judged."""

    def __init__(self, torch, call):
        self.capturing = torch.cuda.is_current_stream_capturing if torch.cuda.is_available() else bool
        self.call, self.outputs = call, {}

    def __call__(self):
        if self.capturing():
            raise RuntimeError("its result lies where the graph has it, and is not to be judged")
        self.outputs = self.call()


# timed
def in_one_line(error):
    """An exception without its folders: they are nobody's business in a record."""
    text = str(error).strip().split("\n")[0] or type(error).__name__
    return re.sub(r"(?:/[^\s/:'\"]+)+/", "", text)[:300]


def bytes_at(tensor):
    """The memory of a dense host tensor of bytes."""
    return memoryview((ctypes.c_char * tensor.numel()).from_address(tensor.data_ptr())).cast("B")


class Slot:
    """A tensor of the call: its memory, and the operator's view of it."""

    def __init__(self, torch, spec, device, folder):
        name = DTYPES[spec["dtype"]]
        if not hasattr(torch, name):
            raise Unsupported(f"torch {torch.__version__} has no {name}")
        if any(stride < 0 for stride in spec["strides"]):
            raise Unsupported("torch has no negative strides")
        self.name, self.spec = spec["slot"], spec
        self.dtype = getattr(torch, name)
        all_bytes = torch.empty(spec["offset"] + spec["bytes"], dtype=torch.uint8, device=device)
        self.memory = all_bytes[spec["offset"]:]
        self.view = self.view_of(torch, spec, all_bytes)
        self.original = None
        if spec["file"]:
            self.load(torch, os.path.join(folder, spec["file"]))

    def view_of(self, torch, spec, all_bytes):
        first = (spec["offset"] + spec["first"]) // spec["size"]
        return torch.as_strided(all_bytes.view(self.dtype), spec["shape"], spec["strides"], first)

    def load(self, torch, path):
        host = torch.empty(self.memory.numel(), dtype=torch.uint8)
        if host.numel() > 0:
            target, at = bytes_at(host), 0
            with open(path, "rb") as file:
                while at < len(target):
                    count = file.readinto(target[at:])
                    if not count:
                        raise OSError(f"the file of {self.name} is too short")
                    at += count
        self.memory.copy_(host)
        if self.spec["overwritten"]:
            self.original = self.memory.clone()

    def write(self, path):
        host = self.memory.cpu()
        with open(path, "wb") as file:
            if host.numel() > 0:
                file.write(bytes_at(host))

    def renew(self):
        if self.original is not None:
            self.memory.copy_(self.original)


class Launch:
    """What is timed: the call, and what must be there before each of its runs."""

    def __init__(self, step, renew):
        self.step, self.renew = step, renew
        self.graphs, self.turn = [], 0
        self.last_us = 0.0

    def start(self, is_graph):
        if is_graph:
            self.graphs[self.turn % GRAPHS].replay()
        else:
            self.step()


class Child:
    def __init__(self, folder):
        self.folder = folder
        self.torch = self.device = None
        self.slots, self.launches = {}, {}
        self.mode = None
        self.is_sustained = False
        self.flush_bytes = 0
        self.written = self.read = None  # the flush's buffers
        self.padding = None  # a launch of another kernel
        self.hold = FIRST_HOLD

    # ---- requests: each returns what its answer holds

    def hello(self, request):
        try:
            import torch
        except ImportError as error:
            raise Unsupported(f"no torch for {os.path.basename(sys.executable)}: {in_one_line(error)}") from None
        except Exception as error:
            raise Unsupported(f"torch cannot be imported: {in_one_line(error)}") from None
        version = str(torch.__version__)
        if tuple(int(part) for part in re.findall(r"\d+", version)[:2]) < OLDEST_TORCH:
            raise Unsupported(f"torch {version} is too old: {OLDEST_TORCH[0]}.{OLDEST_TORCH[1]} at least")
        self.torch, self.device = torch, torch.device(request["device"])
        if self.is_cuda():
            self.see_gpu(version)
        self.flush_bytes = max(2 * request["last_level_cache"], SMALLEST_FLUSH)
        if not self.is_cuda():
            self.flush_bytes = min(self.flush_bytes, LARGEST_HOST_FLUSH)
        return {"version": f"torch {version}"}

    def prepare(self, request):
        torch = self.torch
        self.slots, self.mode = {}, None
        views = {}
        for spec in request["tensors"]:
            name = spec["slot"]
            if spec["absent"]:
                views[name] = None
            elif spec["memory_of"]:
                views[name] = views[spec["memory_of"]]
            else:
                self.slots[name] = Slot(torch, spec, self.device, self.folder)
                views[name] = self.slots[name].view
        made = load_operator(request["operator"]).call(torch, views, request["params"])
        steps = made if isinstance(made, dict) else {"torch": made}
        if request["compile"] and "torch" in steps and "torch_compile" not in steps:
            steps["torch_compile"] = torch.compile(steps["torch"], dynamic=False)
        self.launches, reasons = {}, {}
        for name, step in steps.items():
            if name == "torch_compile" and not request["compile"]:
                continue
            reasons[name] = self.warm_up(step)
            self.launches[name] = Launch(step, self.renew_all)
        return {"peers": reasons}

    def copy(self, request):
        """The copy that the lab times as well: the same operation from two processes."""
        torch, count = self.torch, request["bytes"]
        source = torch.ones(count, dtype=torch.uint8, device=self.device)
        target = torch.ones(count, dtype=torch.uint8, device=self.device)

        def step():
            if self.is_cuda():
                target.copy_(source)
            else:
                ctypes.memmove(target.data_ptr(), source.data_ptr(), count)

        self.launches["copy"] = Launch(step, lambda: None)
        return {}

    def run(self, request):
        for slot in self.slots.values():
            if slot.spec["fresh"]:
                slot.memory.fill_(request["poison"])
        self.renew_all()
        launch = self.launches[request["peer"]]
        launch.start(self.mode is not None and self.mode[2])
        self.synchronize()
        # untimed
        for name, output in getattr(launch.step, "outputs", {}).items():
            self.slots[name].view.copy_(output)
        # timed
        for slot in self.slots.values():
            if slot.spec["written"]:
                slot.write(os.path.join(self.folder, f"{slot.name}.out"))
        return {}

    def set_mode(self, request):
        """Whatever a mode needs is made here, and not while something is timed."""
        torch, name = self.torch, request["mode"]
        if name not in MODES:
            raise Unsupported(f"torch is not timed in {name}")
        self.mode = MODES[name]
        self.is_sustained = name == "sustained"
        if self.mode[2] and not self.is_cuda():
            raise Unsupported("graphs need a GPU")
        if self.padding is None:
            words = torch.ones(PADDING_WORDS, dtype=torch.int64, device=self.device)
            self.padding = Launch(lambda: words.bitwise_xor_(1), lambda: None)
        if self.written is None:
            self.written = torch.ones(self.flush_bytes // 8, dtype=torch.int64, device=self.device)
        if self.mode[1] and self.is_cuda() and self.read is None:
            self.read = torch.ones(self.flush_bytes // 8, dtype=torch.int64, device=self.device)
        for launch in (self.launches[request["peer"]], self.padding):
            while self.mode[2] and len(launch.graphs) < GRAPHS:
                launch.graphs.append(self.capture(launch))
        # Twice: to know how many make a burst, and to be as warm as what it takes turns with.
        launch = self.launches[request["peer"]]
        for _ in range(2 if self.is_sustained else 0):
            launch.last_us = self.sample_burst(launch)
        return {}

    def time(self, request):
        launch = self.launches[request["peer"]]
        launch.turn += 1
        if self.is_sustained:
            launch.last_us = self.sample_burst(launch)
        else:
            launch.last_us = self.sample_cuda(launch) if self.is_cuda() else self.sample_cpu(launch)
        return {"us": launch.last_us}

    # ---- torch

    def is_cuda(self):
        return self.device.type == "cuda"

    def see_gpu(self, version):
        torch = self.torch
        if not torch.cuda.is_available():
            raise Unsupported(f"torch {version} finds no GPU")
        torch.cuda.set_device(self.device)
        torch.cuda.set_stream(torch.cuda.Stream())  # as ours: it waits for no other
        major, minor = torch.cuda.get_device_capability(self.device)
        archs = torch.cuda.get_arch_list()

        def serves(arch):
            kind, _, number = arch.partition("_")
            has_major, has_minor = divmod(int(re.sub(r"\D", "", number)), 10)
            if kind == "compute":
                return (has_major, has_minor) <= (major, minor)
            return has_major == major and has_minor <= minor

        if not any(serves(arch) for arch in archs):
            raise Unsupported(f"torch {version} is built for {' '.join(archs)}, not for sm_{major}{minor}")
        try:
            torch.ones(1, device=self.device).add_(1).cpu()
        except Exception as error:
            raise Unsupported(f"torch {version} cannot use the GPU: {in_one_line(error)}") from None

    def synchronize(self):
        if self.is_cuda():
            self.torch.cuda.synchronize()

    def renew_all(self):
        for slot in self.slots.values():
            slot.renew()

    def warm_up(self, step):
        """Runs a call for the first times. Empty, or why torch has none: it says so by an exception."""
        try:
            for _ in range(2):
                self.renew_all()
                step()
                self.synchronize()
        except (NameError, AttributeError, KeyError, SyntaxError):
            raise  # of the file that says how torch is called, and no word of torch's
        except Exception as error:
            return in_one_line(error)
        return ""

    def capture(self, launch):
        graph = self.torch.cuda.CUDAGraph()
        try:
            with self.torch.cuda.graph(graph):
                launch.step()
        except Exception as error:
            raise Unsupported(f"torch cannot capture this call: {in_one_line(error)}") from None
        graph.replay()
        self.synchronize()
        return graph

    def flush(self):
        _, is_clean, _ = self.mode
        if self.is_cuda():
            self.written.fill_(1)
            if is_clean:
                self.read.sum()
        elif is_clean:
            self.written.sum()
        else:
            self.written.add_(1)

    def make_ready(self, launch):
        is_cold, _, is_graph = self.mode
        launch.renew()
        if is_cold:
            self.flush()
        else:
            launch.start(is_graph)
            launch.renew()

    def sample_cpu(self, launch):
        self.make_ready(launch)
        begin = time.perf_counter_ns()
        launch.step()
        took = time.perf_counter_ns() - begin
        time.sleep(IDLE_S)
        return took * 1e-3

    def sample_burst(self, launch):
        """The time of one of many launches in a row, after as many that are not timed."""
        count = 1
        if launch.last_us > 0:
            count = int(min(max(BURST_US / launch.last_us, 1), MOST_IN_BURST))
        launch.renew()
        for _ in range(count):
            launch.step()
        if not self.is_cuda():
            begin = time.perf_counter_ns()
            for _ in range(count):
                launch.step()
            took = (time.perf_counter_ns() - begin) * 1e-3
            time.sleep(IDLE_S)
            return took / count
        start = self.torch.cuda.Event(enable_timing=True)
        stop = self.torch.cuda.Event(enable_timing=True)
        last = self.torch.cuda.Event()
        start.record()
        for left in range(count, 0, -1):
            if left == 1:
                last.record()
            launch.step()
        # Reached already: the GPU has waited for the host.
        was_late = count > 1 and last.query()
        stop.record()
        self.synchronize()
        if was_late:
            raise Unsupported("Python starts torch's launches slower than they run: there is no sustained time")
        return 1000.0 * start.elapsed_time(stop) / count

    def once(self, launch):
        self.make_ready(launch)
        start = self.torch.cuda.Event(enable_timing=True)
        stop = self.torch.cuda.Event(enable_timing=True)
        start.record()
        launch.start(self.mode[2])
        stop.record()
        return start, stop

    def sample_cuda(self, launch):
        is_padded = launch.last_us <= PADDED_US
        while True:
            for _ in range(self.hold):
                self.written.fill_(1)
            # Not by the launch itself: what ran directly before it is another kernel, as in our rounds.
            for _ in range(LEAD_IN if is_padded else 0):
                self.once(self.padding)
            start, stop = self.once(launch)
            for _ in range(TAIL if is_padded else 0):
                self.once(self.padding)
            # Reached already: the GPU has waited for the host, and the events may hold the host's time.
            was_late = start.query()
            self.synchronize()
            if not was_late:
                return 1000.0 * start.elapsed_time(stop)
            if self.hold >= LONGEST_HOLD:
                raise Unsupported("this host does not keep the GPU busy: a sample would hold the host's own time")
            self.hold *= 2


def load_operator(name):
    folder = os.path.dirname(os.path.abspath(__file__))
    path = os.path.join(folder, f"{name}_peers_torch.py")
    if not os.path.exists(path):
        raise Unsupported(f"what torch does for {name} is not written down: no {name}_peers_torch.py")
    spec = importlib.util.spec_from_file_location(f"{name}_peers_torch", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def answer_to(child, line):
    request = json.loads(line)
    handlers = {"hello": child.hello, "prepare": child.prepare, "copy": child.copy, "run": child.run,
                "mode": child.set_mode, "time": child.time}  # fmt: skip
    answer = {"id": request["id"]}
    try:
        answer["ok"] = handlers[request["request"]](request)
    except Unsupported as reason:
        answer["unsupported"] = in_one_line(reason)
    except MemoryError as error:
        answer["memory"] = in_one_line(error)
    except Exception as error:
        kind = type(error).__name__
        answer["memory" if kind == "OutOfMemoryError" else "error"] = f"{kind}: {in_one_line(error)}"
    return json.dumps(answer)


def main():
    folder = sys.argv[1]
    # Whatever a library prints goes to stderr: answers alone are read.
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    sys.dont_write_bytecode = True
    sys.modules["torch_child"] = sys.modules["__main__"]  # operators import Unsupported from here
    gc.disable()
    child = Child(folder)
    try:
        while line := sys.stdin.readline():
            answers.write(answer_to(child, line) + "\n")
            answers.flush()
    except BrokenPipeError:
        pass
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    os._exit(0)  # at once: nobody waits for torch to take itself down


if __name__ == "__main__":
    main()
