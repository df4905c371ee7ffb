// A driver in place of NVIDIA's, which runs the kernels on the processor: what the host's code gives it
// is really computed. Memory of the device is the host's, and checked against what was allocated.
// What a stream is given waits until somebody waits for the stream: no order but the promised one helps.
// With PTX_KERNELS, a file that `ptx_to_c.py` has written, the kernels are those of `p256.ptx`.

#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "../../../src/gpu/p256.cu"
#ifdef PTX_KERNELS
#include PTX_KERNELS
#endif

namespace {

std::mutex access;
std::map<u64, size_t> allocated;

// Whether this thread has made the context its own.
thread_local bool is_current;

// Any thread may let any stream work.
std::recursive_mutex working;

struct Stream {
    std::vector<std::function<void()>> queue;

    void push(std::function<void()> step) {
        std::lock_guard<std::recursive_mutex> guard(working);
        queue.push_back(std::move(step));
    }

    void drain() {
        std::lock_guard<std::recursive_mutex> guard(working);
        for (auto &step : queue) step();
        queue.clear();
    }
};

std::vector<Stream *> streams;

// How often each call may still be made by this thread before it fails, and with what.
thread_local std::map<std::string, std::pair<int, int>> failures;

int fails(const char *call) {
    auto found = failures.find(call);
    if (found == failures.end() || found->second.first-- > 0) return 0;
    return found->second.second;
}

// Whether this is inside one piece of the device's memory.
bool is_inside(u64 address, size_t bytes) {
    std::lock_guard<std::mutex> guard(access);
    auto next = allocated.upper_bound(address);
    if (next == allocated.begin()) return false;
    auto piece = std::prev(next);
    return address + bytes <= piece->first + piece->second;
}

const char *const KERNELS[] = {"scalars", "verify_plain", "verify_with_tables"};

template <class T> T argument(void **arguments, int number) {
    return *(T *)arguments[number];
}

void run(int kernel, void **given, u32 count) {
#ifdef PTX_KERNELS
    u64 packed[6] = {0};
    for (int i = 0; i < (kernel == 0 ? 3 : kernel == 1 ? 5 : 6); i++) packed[i] = argument<u64>(given, i);
    auto body = kernel == 0 ? ptx::scalars : kernel == 1 ? ptx::verify_plain : ptx::verify_with_tables;
    (void)count;
    ptx::run(body, (const char *)packed);
#else
    auto jobs = argument<const Job *>(given, 0);
    if (kernel == 0) return scalars(jobs, argument<Scalars *>(given, 1), count);
    auto own = argument<const Scalars *>(given, 1);
    auto outcomes = argument<u8 *>(given, 2);
    auto generator = argument<const Affine *>(given, 3);
    if (kernel == 1) return verify_plain(jobs, own, outcomes, generator, count);
    verify_with_tables(jobs, own, outcomes, generator, argument<const Affine *>(given, 4), count);
#endif
}

} // namespace

extern "C" {

// For tests: the call fails with this code after so many more times.
void fail(const char *call, int times, int code) {
    failures[call] = {times, code};
}

int cuInit(unsigned) { return fails("cuInit"); }

int cuGetErrorName(int code, const char **name) {
    *name = "CUDA_ERROR_UNKNOWN";
    return code == 999 ? 0 : 1;
}

int cuDeviceGet(int *device, int number) {
    *device = number;
    return fails("cuDeviceGet");
}

int cuDeviceGetName(char *name, int length, int) {
    strncpy(name, "a processor", length);
    return 0;
}

// Compute capability 7.5, or another that the test gives as a "failure" of its part.
int cuDeviceGetAttribute(int *value, int attribute, int) {
    int other = fails(attribute == 75 ? "major" : "minor");
    *value = other ? other : attribute == 75 ? 7 : 5;
    return 0;
}

int cuDevicePrimaryCtxRetain(void **context, int) {
    *context = &allocated;
    return 0;
}

int cuCtxSetCurrent(void *context) {
    is_current = context == &allocated;
    return is_current ? 0 : 201;
}

int cuModuleLoadData(void **module, const void *program) {
    *module = &access;
    return strstr((const char *)program, ".entry verify_plain") ? fails("cuModuleLoadData") : 218;
}

int cuModuleGetFunction(void **function, void *, const char *name) {
    for (auto &kernel : KERNELS) {
        if (!strcmp(kernel, name)) return *function = (void *)&kernel, 0;
    }
    return 500;
}

int cuMemAlloc_v2(u64 *address, size_t bytes) {
    if (!is_current) return 201;
    if (int code = fails("cuMemAlloc")) return code;
    *address = (u64)aligned_alloc(256, (bytes + 255) / 256 * 256);
    std::lock_guard<std::mutex> guard(access);
    allocated[*address] = bytes;
    return 0;
}

int cuMemFree_v2(u64 address) {
    if (!is_current) abort();
    std::lock_guard<std::mutex> guard(access);
    free((void *)address);
    return allocated.erase(address) ? 0 : 1;
}

int cuMemHostAlloc(void **start, size_t bytes, unsigned) {
    *start = malloc(bytes);
    return fails("cuMemHostAlloc");
}

int cuMemFreeHost(void *start) {
    free(start);
    return 0;
}

// Waits for all streams, as the default stream does.
int cuMemcpyHtoD_v2(u64 to, const void *from, size_t bytes) {
    if (!is_current || !is_inside(to, bytes)) return 1;
    std::lock_guard<std::recursive_mutex> guard(working);
    for (auto stream : streams) stream->drain();
    memcpy((void *)to, from, bytes);
    return 0;
}

int cuMemcpyHtoDAsync_v2(u64 to, const void *from, size_t bytes, Stream *stream) {
    if (!is_current || !is_inside(to, bytes)) return 1;
    stream->push([=] { memcpy((void *)to, from, bytes); });
    return 0;
}

int cuMemcpyDtoHAsync_v2(void *to, u64 from, size_t bytes, Stream *stream) {
    if (!is_current || !is_inside(from, bytes)) return 1;
    stream->push([=] { memcpy(to, (const void *)from, bytes); });
    return 0;
}

int cuStreamCreate(Stream **stream, unsigned) {
    std::lock_guard<std::recursive_mutex> guard(working);
    streams.push_back(*stream = new Stream);
    return 0;
}

int cuStreamSynchronize(Stream *stream) {
    if (int code = fails("cuStreamSynchronize")) return code;
    stream->drain();
    return 0;
}

int cuStreamDestroy_v2(Stream *stream) {
    std::lock_guard<std::recursive_mutex> guard(working);
    for (auto &known : streams) {
        if (known == stream) {
            known = streams.back();
            streams.pop_back();
            break;
        }
    }
    delete stream;
    return 0;
}

int cuLaunchKernel(const void *kernel, unsigned blocks, unsigned, unsigned, unsigned threads,
                   unsigned, unsigned, unsigned, Stream *stream, void **arguments, void **) {
    if (int code = fails("cuLaunchKernel")) return code;
    if (threads != BLOCK || !is_current) return 1;
    int number = (const char *const *)kernel - KERNELS;
    u32 count = argument<u32>(arguments, number == 0 ? 2 : number == 1 ? 4 : 5);
    bool is_right = is_inside(argument<u64>(arguments, 0), count * sizeof(Job)) &&
                    is_inside(argument<u64>(arguments, 1), count * sizeof(Scalars));
    if (number > 0) {
        is_right &= is_inside(argument<u64>(arguments, 2), count) &&
                    is_inside(argument<u64>(arguments, 3), sizeof(Affine) * 16 << 15);
    }
    if (!is_right) return 1;
    // The driver copies the arguments.
    std::vector<u64> own;
    for (int i = 0; i < (number == 0 ? 3 : number == 1 ? 5 : 6); i++) own.push_back(argument<u64>(arguments, i));
    stream->push([=] {
        std::vector<void *> given;
        for (auto &value : own) given.push_back((void *)&value);
        for (block_number = 0; block_number < blocks; block_number++) run(number, given.data(), count);
    });
    return 0;
}
}
