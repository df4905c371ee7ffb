// A driver in place of NVIDIA's, which runs the kernels on the processor: what the host's code gives it
// is really computed. Memory of the device is the host's, and checked against what was allocated.
// With PTX_KERNELS, a file that `ptx_to_c.py` has written, the kernels are those of `p256.ptx`.

#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <string>

#include "../../../src/gpu/p256.cu"
#ifdef PTX_KERNELS
#include PTX_KERNELS
#endif

namespace {

std::mutex access;
std::map<u64, size_t> allocated;

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

int cuCtxSetCurrent(void *context) { return context == &allocated ? 0 : 201; }

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
    if (int code = fails("cuMemAlloc")) return code;
    *address = (u64)aligned_alloc(256, (bytes + 255) / 256 * 256);
    std::lock_guard<std::mutex> guard(access);
    allocated[*address] = bytes;
    return 0;
}

int cuMemFree_v2(u64 address) {
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

int cuMemcpyHtoD_v2(u64 to, const void *from, size_t bytes) {
    if (!is_inside(to, bytes)) return 1;
    memcpy((void *)to, from, bytes);
    return 0;
}

int cuMemcpyHtoDAsync_v2(u64 to, const void *from, size_t bytes, void *) {
    return cuMemcpyHtoD_v2(to, from, bytes);
}

int cuMemcpyDtoHAsync_v2(void *to, u64 from, size_t bytes, void *) {
    if (!is_inside(from, bytes)) return 1;
    memcpy(to, (const void *)from, bytes);
    return 0;
}

int cuStreamCreate(void **stream, unsigned) {
    *stream = &access;
    return 0;
}

int cuStreamSynchronize(void *) { return fails("cuStreamSynchronize"); }

int cuStreamDestroy_v2(void *) { return 0; }

int cuLaunchKernel(const void *kernel, unsigned blocks, unsigned, unsigned, unsigned threads,
                   unsigned, unsigned, unsigned, void *, void **arguments, void **) {
    if (int code = fails("cuLaunchKernel")) return code;
    if (threads != BLOCK) return 1;
    int number = (const char *const *)kernel - KERNELS;
    u32 count = argument<u32>(arguments, number == 0 ? 2 : number == 1 ? 4 : 5);
    bool is_right = is_inside(argument<u64>(arguments, 0), count * sizeof(Job)) &&
                    is_inside(argument<u64>(arguments, 1), count * sizeof(Scalars));
    if (number > 0) {
        is_right &= is_inside(argument<u64>(arguments, 2), count) &&
                    is_inside(argument<u64>(arguments, 3), sizeof(Affine) * 16 << 15);
    }
    if (!is_right) return 1;
    for (block_number = 0; block_number < blocks; block_number++) run(number, arguments, count);
    return 0;
}
}
