"""Translates PTX to C++, instruction by instruction, so that tests run what drivers are given.

    ptx_to_c.py p256.ptx > kernels.h

Knows the instructions that p256.ptx has, by NVIDIA's "PTX ISA", and refuses others. Each thread of a
block is a coroutine, which a barrier suspends.
"""

import re
import sys

PRELUDE = """#include <cstring>
#include <ucontext.h>
#include <vector>
namespace ptx {
struct Thread { ucontext_t context; bool is_done; std::vector<char> stack; };
static thread_local u32 tid, ctaid;
static thread_local Thread threads[BLOCK];
static thread_local ucontext_t scheduler;
static thread_local void (*body)(const char *);
static thread_local const char *arguments;
static void barrier() { u32 own = tid; swapcontext(&threads[own].context, &scheduler); tid = own; }
static void begin() { u32 own = tid; body(arguments); threads[own].is_done = true; }
static void run(void (*kernel)(const char *), const char *given) {
    body = kernel; arguments = given; ctaid = block_number;
    for (auto &thread : threads) {
        getcontext(&thread.context);
        thread.is_done = false;
        thread.stack.resize(1 << 17);
        thread.context.uc_stack.ss_sp = thread.stack.data();
        thread.context.uc_stack.ss_size = thread.stack.size();
        thread.context.uc_link = &scheduler;
        makecontext(&thread.context, begin, 0);
    }
    for (bool again = true; again;) {
        again = false;
        for (tid = 0; tid < BLOCK; tid++) {
            if (threads[tid].is_done) continue;
            u32 own = tid;
            swapcontext(&scheduler, &threads[own].context);
            tid = own;
            again |= !threads[own].is_done;
        }
    }
}
template <class T> static T get(const void *from) { T value; memcpy(&value, from, sizeof value); return value; }
template <class T> static void put(void *to, T value) { memcpy(to, &value, sizeof value); }
"""
TYPES = {"b8": "u8", "u8": "u8", "b16": "unsigned short", "u16": "unsigned short", "s16": "short",
         "b32": "u32", "u32": "u32", "s32": "int", "b64": "u64", "u64": "u64", "s64": "long long", "pred": "bool"}
SIMPLE = {"add": "+", "sub": "-", "and": "&", "or": "|", "xor": "^"}
COMPARE = {"eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">="}
# What instructions with carries work out, in 64 bits.
CARRY = {"add": "(u64){0} + {1}", "sub": "(u64){0} - {1}", "lo": "(u64)(u32)({0} * {1}) + {2}",
         "hi": "((u64){0} * {1} >> 32) + {2}"}


def value(text):
    return {"%tid.x": "tid", "%ctaid.x": "ctaid"}.get(text, text.replace("%", "").replace("$", "_"))


def place(text):
    """The address in brackets, as a pointer to octets."""
    base, _, offset = text.strip("[]").partition("+")
    return f"((char *)({value(base)}) + {offset or 0})"


def step(operation, rest):
    """The statement of one instruction."""
    parts, kind = operation.split("."), TYPES.get(operation.rsplit(".", 1)[-1])
    name, vector = parts[0], re.search(r"\{(.*)\}", rest)
    if name in ("ld", "st") and vector:
        words = [word.strip() for word in vector[1].split(",")]
        address = place(re.search(r"\[.*\]", rest)[0])
        each = enumerate(value(word) for word in words)
        if name == "ld":
            return " ".join(f"{word} = get<{kind}>({address} + {4 * i});" for i, word in each)
        return " ".join(f"put<{kind}>({address} + {4 * i}, {word});" for i, word in each)
    raw = [word.strip() for word in rest.split(",")]
    words = [value(word) for word in raw]
    to, of = words[0], words[1:]
    if name == "ld":
        return f"{to} = get<{kind}>({place(raw[1])});"
    if name == "st":
        return f"put<{kind}>({place(raw[0])}, ({kind}){of[0]});"
    if name == "bra":
        return f"goto {to};"
    if name == "ret":
        return "return;"
    if name == "bar":
        return "barrier();"
    if "cc" in parts or name in ("addc", "subc", "madc"):
        what = CARRY[parts[1] if name.startswith("mad") else name[:3]].format(*of)
        carry = ("-" if name == "subc" else "+") + " cf" if name.endswith("c") else ""
        keep = "cf = wide >> 32 & 1; " if "cc" in parts else ""
        return f"{{ u64 wide = {what} {carry}; {keep}{to} = (u32)wide; }}"
    if name in SIMPLE:
        return f"{to} = ({kind})({of[0]} {SIMPLE[name]} {of[1]});"
    if name == "not":
        return f"{to} = {'!' if kind == 'bool' else '~'}{of[0]};"
    if name in ("shl", "shr"):
        bits = 64 if "64" in parts[-1] else 32
        return f"{to} = {of[1]} >= {bits} ? 0 : ({kind}){of[0]} {'<<' if name == 'shl' else '>>'} {of[1]};"
    if name == "setp":
        return f"{to} = ({kind}){of[0]} {COMPARE[parts[1]]} ({kind}){of[1]};"
    if name == "selp":
        return f"{to} = {of[2]} ? {of[0]} : {of[1]};"
    if name == "mul" and parts[1] == "wide":
        wide = "long long" if kind == "int" else "u64"
        return f"{to} = ({wide})({kind}){of[0]} * ({kind}){of[1]};"
    if name == "mul" and parts[1] == "lo":
        return f"{to} = {of[0]} * {of[1]};"
    if name in ("mov", "cvta"):
        return f"{to} = (decltype({to})){of[0]};"
    if name == "cvt":
        return f"{to} = ({TYPES[parts[1]]})({kind}){of[0]};"
    sys.exit(f"unknown instruction: {operation} {rest}")


def body(text):
    """The statements of a function, after their declarations: a jump passes none."""
    outside, steps = ["u32 cf = 0; (void)cf;"], []
    declared = outside
    for line in re.split(r"(?<=;)|(?<=:)(?=\s)|\n", re.sub(r"//.*", "", text)):
        line = " ".join(line.split()).rstrip(";")
        # A call has a scope of its own.
        if line in ("{", "}"):
            declared = steps if line == "{" else outside
            steps.append(line)
            continue
        if match := re.match(r"\.reg \.(\w+) (%\w+)<(\d+)>", line):
            kind, name, count = TYPES[match[1]], value(match[2]), int(match[3])
            declared += [f"{kind} {name}{i}; (void){name}{i};" for i in range(count)]
        elif match := re.match(r"\.reg \.(\w+) (%?\w+)$", line):
            declared.append(f"{TYPES[match[1]]} {value(match[2])}; (void){value(match[2])};")
        elif match := re.match(r"\.(param|local|shared) \.align \d+ \.b8 (\w+)\[(\d+)\]", line):
            static = "static thread_local " if match[1] == "shared" else ""
            declared.append(f"{static}char {match[2]}[{match[3]}];")
        elif match := re.match(r"(\$\w+):$", line):
            steps.append(f"{value(match[1])}: ;")
        elif match := re.match(r"call\.uni \((\w+)\), (\w+), \((.*)\)", line):
            steps.append(f"{match[2]}({match[1]}, {match[3]});")
        elif match := re.match(r"(?:@(!?)(%\w+) )?([a-z][\w.:]*)(?: (.*))?$", line):
            condition = f"if ({match[1] or ''}{value(match[2])}) " if match[2] else ""
            steps.append(condition + step(match[3], match[4] or ""))
        elif line and not line.startswith(".pragma"):
            sys.exit(f"unknown line: {line}")
    return "\n".join(outside + steps)


def main():
    text = open(sys.argv[1], encoding="ascii").read()
    # A call stands on several lines.
    text = re.sub(r"call\.uni [^;]*;", lambda call: " ".join(call[0].split()), text)
    print(PRELUDE)
    for match in re.finditer(
        r"^\.(func|visible \.entry)\s+(?:\(.*?(\w+)\[\d+\]\) )?(\w+)\((.*?)\)[^{]*?\n\{\n(.*?)\n\}\n", text, re.M | re.S
    ):
        kernel, result, name = match[1] != "func", match[2], match[3]
        inputs = re.findall(r"\.param (?:\.align \d+ )?\.(\w+) (\w+)", match[4])
        if kernel:
            # The arguments lie one behind the other, each in eight octets.
            own = "".join(f"const char *{name} = given + {8 * i};\n" for i, (_, name) in enumerate(inputs))
            print(f"static void {name}(const char *given) {{\n{own}{body(match[5])}\n}}")
        else:
            print(f"static void {name}(char *{result}, {', '.join(f'const char *{name}' for _, name in inputs)}) {{\n{body(match[5])}\n}}")
    print("}")


main()
