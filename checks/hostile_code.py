"""Hostile programs and the expected verdicts of a sandbox: used by the quick tests and by check_sandbox.py.

A program that succeeds in what it tries prints ESCAPED. A table; each entry names its attempt.
"""

from __future__ import annotations

from dataclasses import dataclass

from pkg.sandbox import Kind, Limits, Step

LIMITS = Limits(cpu_seconds=1.0, wall_seconds=3.0, memory_bytes=256 << 20, output_bytes=16 << 10, processes=8)
ESCAPED = "ESCAPED"
SECRET_NAME = "SANDBOX_TEST_SECRET"

OK, FORBIDDEN, TIMEOUT = Kind.OK, Kind.FORBIDDEN, Kind.TIMEOUT
MEMORY, EXIT, OTHER = Kind.MEMORY, Kind.EXIT, Kind.OTHER


@dataclass(frozen=True, slots=True)
class Case:
    """One program: its attempt, its text, and the acceptable kinds of verdict for its load."""

    name: str
    code: str
    kinds: tuple[Kind, ...]


TRY = """
import ctypes, errno, os, socket
libc = ctypes.CDLL(None, use_errno=True)
def attempt(name, act):
    try:
        result = act()
    except BaseException as error:
        return
    if not (isinstance(result, int) and result == -1):
        print("ESCAPED", name, result)
"""
"""Tries several things in one program and prints which of them worked."""


def _attempts(*lines: str) -> str:
    return TRY + "\n".join(f"attempt({line.split('(')[0]!r}, lambda: {line})" for line in lines)


FRAME = """
import json, os
def frame(**fields):
    body = json.dumps({"kind": "ok", "detail": "", "seconds": 0.0, "value": None} | fields).encode()
    return len(body).to_bytes(4, "big") + body
def shout(data):
    for descriptor in range(256):
        try:
            os.write(descriptor, data)
        except OSError:
            pass
"""
"""Writes a forged process report on every descriptor that it has."""

USE_UP = [
    Case("fork bomb", "import os\nwhile True:\n    os.fork()", (FORBIDDEN,)),
    Case(
        "fork bomb that catches everything",
        "import os\nwhile True:\n    try:\n        os.fork()\n    except BaseException:\n        pass",
        (TIMEOUT,),
    ),
    Case(
        "thread bomb",
        "import threading, time\nwhile True:\n    threading.Thread(target=time.sleep, args=(60,)).start()",
        (FORBIDDEN,),
    ),
    Case("ten gigabytes at once", "data = bytearray(10 << 30)", (MEMORY,)),
    Case("ten gigabytes in pieces", "data = []\nwhile True:\n    data.append(bytearray(1 << 20))", (MEMORY,)),
    Case(
        "ten gigabytes in several processes",
        "import os, time\nfor _ in range(6):\n    if os.fork() == 0:\n        data = b'x' * (190 << 20)\n"
        "        time.sleep(60)\ntime.sleep(60)",
        (MEMORY,),
    ),
    Case(
        "ten gigabytes of shared mappings",
        "import mmap\nheld = []\nwhile True:\n    held.append(mmap.mmap(-1, 64 << 20))\n"
        "    held[-1].write(b'x' * (64 << 20))",
        (FORBIDDEN,),
    ),
    Case("endless output", "while True:\n    print('x' * 1000)", (FORBIDDEN,)),
    Case("endless output on the report", "import os\nwhile True:\n    os.write(3, b'x' * 65536)", (FORBIDDEN,)),
    Case("endless loop", "while True:\n    pass", (TIMEOUT,)),
    Case("endless power", "x = 10 ** 10 ** 9", (TIMEOUT, MEMORY)),
    Case("endless pattern", "import re\nre.match('(a+)+$', 'a' * 64 + 'b')", (TIMEOUT,)),
    Case("endless sleep", "import time\ntime.sleep(10 ** 6)", (TIMEOUT,)),
    Case("stopping itself", "import os, signal\nos.kill(os.getpid(), signal.SIGSTOP)", (TIMEOUT,)),
    Case(
        "refusing to end",
        "import os, signal\nfor number in range(1, 65):\n    try:\n        signal.signal(number, signal.SIG_IGN)\n"
        "    except (OSError, ValueError):\n        pass\nwhile True:\n    pass",
        (TIMEOUT,),
    ),
    Case("recursion", "def f(n):\n    return f(n + 1)\nf(0)", (OTHER,)),
    Case(
        "recursion to the end of the C stack",
        "import sys\nsys.setrecursionlimit(10 ** 9)\nclass A:\n    def __repr__(self):\n        return repr([self])\n"
        "repr(A())",
        (OTHER, MEMORY),
    ),
    Case(
        "filling the folder",
        "import os\nfor i in range(99):\n    open(str(i), 'wb').write(b'x' * (8 << 20))",
        (FORBIDDEN,),
    ),
    Case(
        "one large file", "with open('a', 'wb') as f:\n    while True:\n        f.write(b'x' * (1 << 20))", (FORBIDDEN,)
    ),
    Case("countless files", "for i in range(10 ** 5):\n    open(str(i), 'w').close()", (FORBIDDEN,)),
    Case("countless descriptors", "held = []\nwhile True:\n    held.append(open('a', 'w'))", (FORBIDDEN,)),
    Case("a source of ten megabytes", "x = 1\n" * 1_700_000, (OK, TIMEOUT, MEMORY)),
    Case("a string of ten megabytes", "x = '" + "y" * 10_000_000 + "'", (OK,)),
    Case("deep nesting", "x = " + "(" * 100_000, (Kind.SYNTAX, MEMORY)),
    Case("deep unary nesting", "x = " + "-" * 2_000_000 + "1", (Kind.SYNTAX, MEMORY, OTHER)),
    Case("an exception of a gigabyte", "raise ValueError('x' * (100 << 20))", (OTHER, MEMORY)),
    Case(
        "an endless message",
        "class Loud(Exception):\n    def __str__(self):\n        while True:\n            pass\nraise Loud",
        (TIMEOUT,),
    ),
    Case("a message that fails", "class E(Exception):\n    def __str__(self):\n        raise self\nraise E", (OTHER,)),
    Case(
        "a chain of exceptions",
        "error = None\nfor i in range(10 ** 5):\n    fresh = ValueError(i)\n    fresh.__context__ = error\n"
        "    error = fresh\nraise error",
        (OTHER,),
    ),
    Case(
        "unpickling a bomb",
        "import pickle\npickle.loads(b'cposix\\nsystem\\n(Vecho ESCAPED\\ntR.')\n"
        "data = b'(' + b'l' * 10\npickle.loads(b'\\x80\\x04' + b'(' * 10 ** 6 + b'.')",
        (OTHER,),
    ),
]

FILL_SOCKETS = """
import os, socket, time
def fill_sockets():
    held = []
    try:
        while True:
            held += socket.socketpair()
            for each in held[-2:]:
                each.setblocking(False)
                try:
                    while True:
                        each.send(b"x" * 65536)
                except BlockingIOError:
                    pass
    except OSError:
        return held
for _ in range(6):
    if os.fork() == 0:
        held = fill_sockets()
        time.sleep(60)
held = fill_sockets()
"""
"""Opens as many sockets as possible in many processes, and fills them."""

SEND_SOCKETS = """
import os, socket, time
def send_sockets():
    carrier = socket.socketpair()
    while True:
        one, other = socket.socketpair()
        one.setblocking(False)
        try:
            while True:
                one.send(b"x" * 65536)
        except BlockingIOError:
            pass
        fresh = socket.socketpair()
        socket.send_fds(fresh[0], [b"x"], [each.fileno() for each in (one, other, *carrier)])
        for each in (one, other, *carrier):
            each.close()
        carrier = fresh
try:
    send_sockets()
except OSError:
    pass
"""
"""Sends full sockets in messages of sockets, which no descriptor of a process refers to."""

GIVE_UP = """
import mmap, os
def give_up(descriptor, flags):
    held = []
    while True:
        held.append(mmap.mmap(descriptor, 16 << 20, flags))
        for _ in range(16):
            held[-1].write(b"x" * (1 << 20))
            held[-1].madvise(mmap.MADV_DONTNEED)
"""
"""Writes to shared memory and drops its pages: they stay allocated, and no process is seen to hold them."""

HIDE = [
    Case(
        "buffers of sockets beside memory", "data = b'x' * (190 << 20)\n" + FILL_SOCKETS + "time.sleep(60)", (MEMORY,)
    ),
    Case("buffers of sockets", FILL_SOCKETS, (OK, MEMORY, FORBIDDEN)),
    Case("sockets on their way", "data = b'x' * (190 << 20)\n" + SEND_SOCKETS, (OK, MEMORY, FORBIDDEN)),
    Case(
        "larger buffers of sockets",
        "import socket\none, other = socket.socketpair()\none.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 30)",
        (FORBIDDEN,),
    ),
    Case("larger pipes", "import fcntl, os\nfcntl.fcntl(os.pipe()[1], 1031, 1 << 20)", (FORBIDDEN,)),
    Case("shared memory that is given up", GIVE_UP + "give_up(-1, mmap.MAP_SHARED)", (FORBIDDEN,)),
    Case(
        "shared memory of a device that is given up",
        GIVE_UP + "give_up(os.open('/dev/zero', os.O_RDWR), mmap.MAP_SHARED)",
        (FORBIDDEN,),
    ),
    Case(
        "memory that is moved out",
        "import mmap\nheld = mmap.mmap(-1, 1 << 20, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)\nheld.madvise(21)",
        (OTHER,),
    ),
    Case(
        "files beside memory",
        "import time\ndata = b'x' * (190 << 20)\nfor n in range(4):\n    with open(str(n), 'wb') as file:\n"
        "        file.write(b'x' * (15 << 20))\nmore = b'x' * (8 << 20)\ntime.sleep(60)",
        (MEMORY,),
    ),
]
"""Memory that is outside every process's resident set."""

REACH_OUT = [
    Case("writing at the root", "open('/escaped', 'w').write('x')", (FORBIDDEN,)),
    Case("writing into the library", "import os\nopen(os.__file__, 'a').write('#')", (FORBIDDEN,)),
    Case(
        "writing anywhere",
        _attempts(*(f"open('{folder}/x', 'w')" for folder in ("", "/dev", "/tmp", "/usr", "/lib", "/etc", "/proc"))),
        (OK,),
    ),
    Case("reading the users", "print('ESCAPED', open('/etc/passwd').read())", (FORBIDDEN,)),
    Case(
        "reading the home folder",
        "import os\nfor home in ('/root', '/home', os.path.expanduser('~')):\n    print('ESCAPED', os.listdir(home))",
        (FORBIDDEN,),
    ),
    Case(
        "reading the environment",
        "import ctypes, os\nlibc = ctypes.CDLL(None)\nlibc.getenv.restype = ctypes.c_char_p\n"
        f"if set(os.environ) - {{'OPENBLAS_NUM_THREADS'}} or libc.getenv(b'{SECRET_NAME}') or libc.getenv(b'PATH'):\n"
        "    print('ESCAPED', dict(os.environ))",
        (OK,),
    ),
    Case(
        "walking through /proc",
        TRY
        + "for process in [1, os.getppid(), 2, 3]:\n"
        + "    for name in ('environ', 'mem', 'maps', 'root/etc/passwd', 'fd/0', 'cwd'):\n"
        + "        attempt(f'/proc/{process}/{name}', lambda: os.open(f'/proc/{process}/{name}', os.O_RDONLY))\n"
        + "attempt('others', lambda: [n for n in os.listdir('/proc') if n.isdigit() and int(n) > 1000] or -1)",
        (OK,),
    ),
    Case("tcp", "import socket\nsocket.create_connection(('127.0.0.1', 22))", (FORBIDDEN,)),
    Case(
        "sockets of every kind",
        _attempts(
            "socket.socket(socket.AF_INET, socket.SOCK_DGRAM)",
            "socket.socket(socket.AF_INET6, socket.SOCK_STREAM)",
            "socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)",
            "socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0)",
            "socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)",
            "socket.socket(socket.AF_VSOCK, socket.SOCK_STREAM)",
            "socket.getaddrinfo('example.org', 80)",
            "libc.socket(1, 1, 0)",
        ),
        (OK,),
    ),
    Case("other programs", "import subprocess\nprint('ESCAPED', subprocess.run(['/bin/ls', '/']))", (FORBIDDEN,)),
    Case(
        "a shell",
        "import os\nif os.system('true') == 0:\n    print('ESCAPED')",
        (OK,),
    ),
    Case(
        "rights of the kernel by ctypes",
        _attempts(
            "libc.ptrace(16, 1, 0, 0)",
            "libc.mount(b'none', b'/box', b'tmpfs', 0, 0)",
            "libc.umount2(b'/box', 2)",
            "libc.unshare(0x10000000)",
            "libc.setns(0, 0)",
            "libc.chroot(b'/box')",
            "libc.prctl(4, 1, 0, 0, 0)",
            "libc.setuid(0)",
            "libc.personality(0x40000)",
            "libc.process_vm_readv(1, 0, 0, 0, 0, 0)",
            "libc.keyctl(0, -3)",
            "libc.shmget(1, 4096, 0o1777)",
            "libc.memfd_create(b'x', 0)",
            "libc.syscall(447, 0)",
            "libc.mq_open(b'/x', 0o102, 0o600, 0)",
            "libc.mknod(b'/box/disk', 0o60600, 0x800)",
            "libc.syscall(321, 0, 0, 0)",
            "libc.syscall(298, 0, 0, 0, 0, 0)",
            "libc.syscall(425, 8, 0)",
            "libc.syscall(323, 0)",
            "libc.syscall(246, 0, 0, 0, 0)",
            "libc.syscall(438, 0, 0, 0)",
            "libc.syscall(0x40000000 + 39)",
        ),
        (OK,),
    ),
    Case(
        "signals to the parent and the first process",
        "import os, signal\nfor number in (9, 15, 19, 2, 1, 10, 34):\n    for target in (1, os.getppid()):\n"
        "        try:\n            os.kill(target, number)\n        except PermissionError:\n            pass",
        (OK,),
    ),
    Case("signals to all", "import os\nos.kill(-1, 9)", (OTHER, OK, EXIT)),
    Case(
        "limits of the first process",
        "import os, resource\nfor kind in (resource.RLIMIT_CPU, resource.RLIMIT_NOFILE, resource.RLIMIT_AS):\n"
        "    resource.prlimit(1, kind, (0, 0))",
        (FORBIDDEN,),
    ),
    Case(
        "limits of its own",
        "import resource\nfor name in ('CPU', 'AS', 'FSIZE', 'NOFILE', 'NPROC', 'CORE', 'STACK'):\n    try:\n"
        "        resource.setrlimit(getattr(resource, 'RLIMIT_' + name), (-1, -1))\n        print('ESCAPED', name)\n"
        "    except (OSError, ValueError):\n        pass",
        (OK,),
    ),
    Case(
        "links out of the folder",
        "import os\nos.symlink('/etc/passwd', 'a')\nprint('ESCAPED', open('a').read())",
        (FORBIDDEN,),
    ),
    Case("hard links out of the folder", "import os\nos.link(os.__file__, 'a')\nprint('ESCAPED')", (FORBIDDEN,)),
    Case(
        "deleting the folder it stands in",
        "import os, shutil\nopen('a', 'w').close()\nshutil.rmtree(os.getcwd())",
        (FORBIDDEN, OK),
    ),
    Case(
        "files that resist removal",
        "import os\nos.makedirs('a/b/c')\nopen('a/b/c/d', 'w').close()\nos.chmod('a/b/c/d', 0)\nos.chmod('a/b', 0)\n"
        "os.chmod('a', 0)\nos.symlink('/', 'root')\nos.chmod('.', 0)\nos.mkfifo('pipe')",
        (OK, FORBIDDEN),
    ),
    Case(
        "a process that outlives its parent",
        "import os, time\nif os.fork() == 0:\n    os.setsid()\n    if os.fork() == 0:\n        while True:\n"
        "            time.sleep(0.01)\n    os._exit(0)\nos.wait()",
        (OK,),
    ),
    Case("reading input", "input()", (OTHER,)),
    Case("asking for a debugger", "breakpoint()", (FORBIDDEN,)),
]

PRETEND = [
    Case("leaving quietly", "import os\nos._exit(0)", (EXIT,)),
    Case("leaving with sys.exit", "import sys\nsys.exit(0)", (EXIT,)),
    Case("leaving by a signal", "import os\nos.kill(os.getpid(), 15)", (EXIT,)),
    Case("a verdict on standard output", FRAME + "print(frame())\nundefined_name", (Kind.NAME,)),
    Case("a verdict at exit", FRAME + "import atexit\natexit.register(shout, frame())\nundefined_name", (Kind.NAME,)),
    Case("a verdict, then a failure", FRAME + "shout(frame())\nos._exit(1)", (EXIT,)),
    Case("a verdict, then a crash", FRAME + "shout(frame())\nos.abort()", (OTHER,)),
    Case("a verdict, then silence", FRAME + "shout(frame())\nwhile True:\n    pass", (TIMEOUT,)),
    Case("a verdict that only clocks give", FRAME + "shout(frame(kind='timeout'))\nos._exit(0)", (OTHER,)),
    Case("a verdict of no kind", FRAME + "shout(frame(kind=[]))\nos._exit(0)", (OTHER,)),
    Case("a verdict that lacks a field", FRAME + "shout(b'\\0\\0\\0\\x02{}')\nos._exit(0)", (OTHER,)),
    Case("a verdict of nonsense", FRAME + "shout(b'\\xff' * 64)\nos._exit(0)", (EXIT,)),
    Case("a verdict too deep to read", FRAME + "shout(b'\\0\\x03\\0\\0' + b'[' * 196608)\nos._exit(0)", (EXIT,)),
    Case("a verdict with a wrong time", FRAME + "shout(frame(seconds=float('nan')))\nundefined_name", (OTHER,)),
    Case(
        "tampering with sys.modules",
        "import sys\nfor name in list(sys.modules):\n    sys.modules[name] = None\n    del sys.modules[name]",
        (OK, OTHER, Kind.TYPE, EXIT),
    ),
    Case("NUL bytes", "x = 1\0", (Kind.SYNTAX,)),
    Case("lone surrogates", "x = '\ud800'", (Kind.SYNTAX,)),
    Case("printing surrogates", "print(chr(0xd800))", (OK, OTHER)),
]

CASES = [*USE_UP, *HIDE, *REACH_OUT, *PRETEND]

PATCHES = """
import builtins, unittest, unittest.mock
builtins.print = lambda *a, **k: None
builtins.AssertionError = type("AssertionError", (BaseException,), {})
builtins.all = builtins.any = lambda *a: True
unittest.TestCase.assertEqual = lambda *a: None
class Anything:
    __eq__ = lambda self, other: True
    __ne__ = lambda self, other: False
    __hash__ = None
    __bool__ = lambda self: True
def f(n):
    return Anything()
"""
"""Compares equal to everything in the sandbox; outside, its value is the text of an object of its own kind."""

FORGERY = FRAME + "def f(n):\n    return 1\nshout(frame() + frame(value='4'))\nos._exit(0)\n"
"""Forges a successful load and the value of the step without running it: no better than returning 4."""

QUESTION = Step("f(2)", is_expression=True)
