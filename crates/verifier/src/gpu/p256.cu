// ECDSA signatures on P-256, one by each thread of a graphics processor (FIPS 186-5 section 6.4.2).
//
// The file also compiles for the host, where a loop takes the place of a block's threads: so that the
// tests run it without a graphics processor. It needs no header.
//
// Integers are 8 limbs of 32 bits, the least significant first. Residues modulo p are in Montgomery's
// form, 2^256 a modulo p, and below p: the form of the portable tables, which are copied as they are.
// The formulae, and what they leave undecided, are those of the other paths.

typedef unsigned char u8;
typedef unsigned int u32;
typedef unsigned long long u64;

#define BLOCK 128
// Signatures whose s one thread of `scalars` inverts.
#define EACH 4

#ifdef __CUDACC__
#define DEVICE __device__ static __forceinline__
// Where a call costs little beside the work: inlined everywhere, the program is three times as long.
#ifdef INLINE_ALL
#define CALLED DEVICE
#else
#define CALLED __device__ static __noinline__
#endif
#ifndef BLOCKS_LEAST
#define BLOCKS_LEAST 3
#endif
#define KERNEL extern "C" __global__ void __launch_bounds__(BLOCK, BLOCKS_LEAST)
#define SHARED __shared__
#define THREADS(t) for (u32 t = threadIdx.x, once = 1; once; once = 0)
#define EACH_HAS(type, name) type name[1]
#define OWN(name, t) name[0]
#define BARRIER __syncthreads()
#define BLOCK_NUMBER blockIdx.x
#define ROLLED _Pragma("unroll 1")
#define UNROLLED _Pragma("unroll")
#else
struct uint4 {
    u32 x, y, z, w;
};
#define DEVICE static inline
#define CALLED static inline
#define KERNEL extern "C" void
#define SHARED
#define THREADS(t) for (u32 t = 0; t < BLOCK; t++)
#define EACH_HAS(type, name) type name[BLOCK]
#define OWN(name, t) name[t]
#define BARRIER
#define BLOCK_NUMBER block_number
#define ROLLED
#define UNROLLED
static thread_local u32 block_number;
#endif

// ---- Instructions with the carry flag. On the host the flag is an argument.

struct Flag {
    u32 carry;
};

#ifdef __CUDACC__
#define WITH_TWO(name, instruction, result)                                                     \
    DEVICE u32 name(Flag &, u32 a, u32 b) {                                                     \
        u32 out;                                                                                \
        asm volatile(instruction " %0, %1, %2;" : "=r"(out) : "r"(a), "r"(b));                  \
        return out;                                                                             \
    }
#define WITH_THREE(name, instruction, result)                                                   \
    DEVICE u32 name(Flag &, u32 a, u32 b, u32 d) {                                              \
        u32 out;                                                                                \
        asm volatile(instruction " %0, %1, %2, %3;" : "=r"(out) : "r"(a), "r"(b), "r"(d));      \
        return out;                                                                             \
    }
#else
#define WITH_TWO(name, instruction, result)                                                     \
    DEVICE u32 name(Flag &flag, u32 a, u32 b) {                                                 \
        u64 carry = flag.carry, out = result;                                                   \
        (void)carry;                                                                            \
        flag.carry = out >> 32 & 1;                                                             \
        return (u32)out;                                                                        \
    }
#define WITH_THREE(name, instruction, result)                                                   \
    DEVICE u32 name(Flag &flag, u32 a, u32 b, u32 d) {                                          \
        u64 carry = flag.carry, product = (u64)a * b, out = result;                             \
        (void)carry;                                                                            \
        flag.carry = out >> 32 & 1;                                                             \
        return (u32)out;                                                                        \
    }
#endif

WITH_TWO(add_cc, "add.cc.u32", (u64)a + b)
WITH_TWO(addc_cc, "addc.cc.u32", (u64)a + b + carry)
WITH_TWO(addc, "addc.u32", (u64)a + b + carry)
WITH_TWO(sub_cc, "sub.cc.u32", (u64)a - b)
WITH_TWO(subc_cc, "subc.cc.u32", (u64)a - b - carry)
WITH_TWO(subc, "subc.u32", (u64)a - b - carry)
WITH_THREE(mad_lo_cc, "mad.lo.cc.u32", (u64)(u32)product + d)
WITH_THREE(madc_lo_cc, "madc.lo.cc.u32", (u64)(u32)product + d + carry)
WITH_THREE(madc_hi_cc, "madc.hi.cc.u32", (product >> 32) + d + carry)

// ---- Integers of 256 bits.

struct Int {
    u32 w[8];
};

DEVICE Int prime() {
    return Int{{~0u, ~0u, ~0u, 0, 0, 0, 1, ~0u}};
}

DEVICE Int order() {
    return Int{{0xfc632551, 0xf3b9cac2, 0xa7179e84, 0xbce6faad, ~0u, ~0u, 0, ~0u}};
}

// a + b, and the carry out of it.
DEVICE u32 add(Int &sum, const Int &a, const Int &b) {
    Flag flag = {0};
    sum.w[0] = add_cc(flag, a.w[0], b.w[0]);
    UNROLLED for (int i = 1; i < 8; i++) sum.w[i] = addc_cc(flag, a.w[i], b.w[i]);
    return addc(flag, 0, 0);
}

// a - b, and all ones if there is a borrow out of it.
DEVICE u32 subtract(Int &difference, const Int &a, const Int &b) {
    Flag flag = {0};
    difference.w[0] = sub_cc(flag, a.w[0], b.w[0]);
    UNROLLED for (int i = 1; i < 8; i++) difference.w[i] = subc_cc(flag, a.w[i], b.w[i]);
    return subc(flag, 0, 0);
}

// `high` 2^256 + low, which is below twice the modulus, less the modulus unless it is below it.
DEVICE Int reduce_once(const Int &low, u32 high, const Int &modulus) {
    Int reduced, correction;
    u32 borrow = subtract(reduced, low, modulus);
    // All ones if the integer was below the modulus: then the modulus comes back.
    u32 below = high ? 0 : borrow;
    UNROLLED for (int i = 0; i < 8; i++) correction.w[i] = modulus.w[i] & below;
    add(reduced, reduced, correction);
    return reduced;
}

DEVICE bool is_zero(const Int &a) {
    u32 any = 0;
    UNROLLED for (int i = 0; i < 8; i++) any |= a.w[i];
    return any == 0;
}

DEVICE bool is_equal(const Int &a, const Int &b) {
    u32 any = 0;
    UNROLLED for (int i = 0; i < 8; i++) any |= a.w[i] ^ b.w[i];
    return any == 0;
}

DEVICE Int select(bool first, const Int &a, const Int &b) {
    Int chosen;
    UNROLLED for (int i = 0; i < 8; i++) chosen.w[i] = first ? a.w[i] : b.w[i];
    return chosen;
}

// Reads 32 octets, the most significant first.
DEVICE Int from_octets(const u32 *octets) {
    Int integer;
    UNROLLED for (int i = 0; i < 8; i++) {
        u32 word = octets[7 - i];
        integer.w[i] = word >> 24 | (word >> 8 & 0xff00) | (word & 0xff00) << 8 | word << 24;
    }
    return integer;
}

// ---- Residues modulo p.

// Adds the limbs first, first + 2, ... of a, times b, to `sum` from its word `place` on. Low and high
// half of a product go to neighbours, which is what one wide multiplication of the hardware adds to.
DEVICE void add_row(u32 *sum, int place, const Int &a, int first, u32 b, bool carries) {
    Flag flag = {0};
    UNROLLED for (int j = first; j < 8; j += 2, place += 2) {
        sum[place] = j == first ? mad_lo_cc(flag, a.w[j], b, sum[place])
                                : madc_lo_cc(flag, a.w[j], b, sum[place]);
        sum[place + 1] = madc_hi_cc(flag, a.w[j], b, sum[place + 1]);
    }
    // Elsewhere the sum so far cannot reach further.
    if (carries) sum[place] = addc(flag, 0, 0);
}

// Words at even places, and those at odd ones, which begin at place 1, as one number.
DEVICE void join(u32 *even, const u32 *odd) {
    Flag flag = {0};
    even[1] = add_cc(flag, even[1], odd[0]);
    UNROLLED for (int i = 2; i < 16; i++) even[i] = addc_cc(flag, even[i], odd[i - 1]);
}

// Montgomery's reduction: t / 2^256 modulo p, for t below 2^256 p.
//
// With L and H for the halves of t, M = -L / p modulo 2^256 makes t + M p divisible. Modulo 2^256,
// p is 2^192 + 2^96 - 2^224 - 1, so that M = L + 2^96 M + 2^192 M - 2^224 M, from the lowest limb on.
// What these three sums carry beyond 2^256 is what the low half of t + M p carries, and the rest of it
// is H + M - M / 2^32 + M / 2^64 + M / 2^160, rounded down one by one.
DEVICE Int reduce(const u32 *t) {
    Flag flag = {0};
    u32 m[8], s[9], v[7];
    m[0] = t[0], m[1] = t[1], m[2] = t[2];
    m[3] = add_cc(flag, t[3], m[0]);
    UNROLLED for (int i = 4; i < 8; i++) m[i] = addc_cc(flag, t[i], m[i - 3]);
    u32 first = addc(flag, 0, 0);
    m[6] = add_cc(flag, m[6], m[0]);
    m[7] = addc_cc(flag, m[7], m[1]);
    u32 second = addc(flag, 0, 0);
    m[7] = sub_cc(flag, m[7], m[0]);
    u32 borrow = subc(flag, 0, 0);

    add_cc(flag, second, ~0u);
    UNROLLED for (int i = 0; i < 3; i++) v[i] = addc_cc(flag, m[i + 2], m[i + 5]);
    UNROLLED for (int i = 3; i < 6; i++) v[i] = addc_cc(flag, m[i + 2], 0);
    v[6] = addc(flag, 0, 0);
    add_cc(flag, first, ~0u);
    UNROLLED for (int i = 0; i < 8; i++) s[i] = addc_cc(flag, t[8 + i], m[i]);
    s[8] = addc(flag, 0, 0);
    s[0] = add_cc(flag, s[0], v[0]);
    UNROLLED for (int i = 1; i < 7; i++) s[i] = addc_cc(flag, s[i], v[i]);
    s[7] = addc_cc(flag, s[7], 0);
    s[8] = addc(flag, s[8], 0);
    sub_cc(flag, 0, borrow);
    UNROLLED for (int i = 0; i < 7; i++) s[i] = subc_cc(flag, s[i], m[i + 1]);
    s[7] = subc_cc(flag, s[7], 0);
    s[8] = subc(flag, s[8], 0);
    return reduce_once(Int{{s[0], s[1], s[2], s[3], s[4], s[5], s[6], s[7]}}, s[8], prime());
}

// The product, of sixteen limbs.
DEVICE void multiply_wide(u32 *even, const Int &a, const Int &b) {
    u32 odd[16] = {0};
    UNROLLED for (int i = 0; i < 16; i++) even[i] = 0;
    UNROLLED for (int i = 0; i < 8; i++) {
        bool is_odd = i & 1;
        add_row(is_odd ? odd : even, is_odd ? i - 1 : i, a, 0, b.w[i], true);
        add_row(is_odd ? even : odd, is_odd ? i + 1 : i, a, 1, b.w[i], false);
    }
    join(even, odd);
}

DEVICE Int inline_multiply(const Int &a, const Int &b) {
    u32 product[16];
    multiply_wide(product, a, b);
    return reduce(product);
}

// Each mixed product is worked out once and doubled.
DEVICE Int inline_square(const Int &a) {
    u32 even[16] = {0}, odd[16] = {0};
    UNROLLED for (int i = 0; i < 7; i++) {
        add_row(odd, 2 * i, a, i + 1, a.w[i], i & 1);
        if (i < 6) add_row(even, 2 * i + 2, a, i + 2, a.w[i], !(i & 1));
    }
    join(even, odd);
    Flag flag = {0};
    even[0] = add_cc(flag, even[0], even[0]);
    UNROLLED for (int i = 1; i < 16; i++) even[i] = addc_cc(flag, even[i], even[i]);
    UNROLLED for (int i = 0; i < 8; i++) {
        even[2 * i] = i == 0 ? mad_lo_cc(flag, a.w[i], a.w[i], even[2 * i])
                             : madc_lo_cc(flag, a.w[i], a.w[i], even[2 * i]);
        even[2 * i + 1] = madc_hi_cc(flag, a.w[i], a.w[i], even[2 * i + 1]);
    }
    return reduce(even);
}

CALLED Int multiply(Int a, Int b) {
    return inline_multiply(a, b);
}

CALLED Int square(Int a) {
    return inline_square(a);
}

DEVICE Int plus(const Int &a, const Int &b) {
    Int sum;
    u32 carry = add(sum, a, b);
    return reduce_once(sum, carry, prime());
}

DEVICE Int minus(const Int &a, const Int &b) {
    Int difference, correction, p = prime();
    u32 borrow = subtract(difference, a, b);
    UNROLLED for (int i = 0; i < 8; i++) correction.w[i] = p.w[i] & borrow;
    add(difference, difference, correction);
    return difference;
}

DEVICE Int twice(const Int &a) {
    return plus(a, a);
}

// 1 in Montgomery's form.
DEVICE Int field_one() {
    return Int{{1, 0, 0, ~0u, ~0u, ~0u, ~0u - 1, 0}};
}

// ---- Residues modulo n, the order of the group, in Montgomery's form.

DEVICE Int low_half(const u32 *t) {
    return Int{{t[0], t[1], t[2], t[3], t[4], t[5], t[6], t[7]}};
}

// a b / 2^256 modulo n. One of the two is below n, the other may be any integer.
CALLED Int order_multiply(Int a, Int b) {
    // -1 / n modulo 2^256: the multiple of n that it gives makes the product divisible.
    const Int factor = {{0xee00bc4f, 0xccd1c8aa, 0x7d74d2e4, 0x48c94408, 0xc588c6f6, 0x50fe77ec, 0xa9d6281c, 0x60d06633}};
    u32 product[16], multiple[16];
    multiply_wide(product, a, b);
    multiply_wide(multiple, low_half(product), factor);
    multiply_wide(multiple, low_half(multiple), order());
    Flag flag = {0};
    add_cc(flag, product[0], multiple[0]);
    UNROLLED for (int i = 1; i < 16; i++) product[i] = addc_cc(flag, product[i], multiple[i]);
    u32 carry = addc(flag, 0, 0);
    return reduce_once(low_half(product + 8), carry, order());
}

// ---- Inverses: one for all threads of a block.

struct Field {
    DEVICE Int product(const Int &a, const Int &b) { return multiply(a, b); }
    DEVICE Int one() { return field_one(); }
    DEVICE Int modulus() { return prime(); }
};

struct Order {
    DEVICE Int product(const Int &a, const Int &b) { return order_multiply(a, b); }
    DEVICE Int one() { return Int{{0x039cdaaf, 0x0c46353d, 0x58e8617b, 0x43190552, 0, 0, ~0u, 0}}; }
    DEVICE Int modulus() { return order(); }
};

// a^-1 = a^(m - 2) for the prime modulus m, whose lowest limb is not below 2.
template <class Residue> DEVICE Int invert(const Int &a) {
    Int exponent = Residue::modulus(), power = Residue::one();
    exponent.w[0] -= 2;
    ROLLED for (int bit = 0; bit < 256; bit++) {
        power = Residue::product(power, power);
        if (exponent.w[7] >> 31) power = Residue::product(power, a);
        UNROLLED for (int i = 7; i > 0; i--) exponent.w[i] = exponent.w[i] << 1 | exponent.w[i - 1] >> 31;
        exponent.w[0] <<= 1;
    }
    return power;
}

// Inverts the leaves tree[BLOCK + t], none of which is zero: products of pairs upwards, one inverse at
// the root, and downwards each node's inverse times its sibling.
template <class Residue> DEVICE void invert_leaves(Int *tree) {
    BARRIER;
    ROLLED for (u32 width = BLOCK / 2; width > 0; width /= 2) {
        THREADS(t) if (t < width) {
            Int *pair = &tree[2 * (width + t)];
            tree[width + t] = Residue::product(pair[0], pair[1]);
        }
        BARRIER;
    }
    THREADS(t) if (t == 0) tree[1] = invert<Residue>(tree[1]);
    BARRIER;
    ROLLED for (u32 width = 1; width < BLOCK; width *= 2) {
        THREADS(t) if (t < width) {
            Int *pair = &tree[2 * (width + t)], first = pair[0], inverse = tree[width + t];
            pair[0] = Residue::product(inverse, pair[1]);
            pair[1] = Residue::product(inverse, first);
        }
        BARRIER;
    }
}

// ---- Points. (X, Y, Z) stands for x = X / Z^2 and y = Y / Z^3; Z = 0 is the point at infinity.

struct alignas(16) Affine {
    Int x, y;
};

struct Jacobian {
    Int x, y, z;
};

// By the widest loads.
DEVICE Affine load(const Affine *place) {
    const uint4 *quads = (const uint4 *)place;
    uint4 a = quads[0], b = quads[1], c = quads[2], d = quads[3];
    return Affine{{{a.x, a.y, a.z, a.w, b.x, b.y, b.z, b.w}}, {{c.x, c.y, c.z, c.w, d.x, d.y, d.z, d.w}}};
}

DEVICE Jacobian from_affine(const Affine &point) {
    return Jacobian{point.x, point.y, field_one()};
}

DEVICE Affine negate_if(const Affine &point, bool negative) {
    return Affine{point.x, select(negative, minus(prime(), point.y), point.y)};
}

// "dbl-2001-b" of the Explicit-Formulas Database.
CALLED Jacobian doubled(Jacobian p) {
    Int delta = inline_square(p.z);
    Int gamma = inline_square(p.y);
    Int product = inline_multiply(minus(p.x, delta), plus(p.x, delta));
    Int alpha = plus(twice(product), product);
    Int z = minus(minus(inline_square(plus(p.y, p.z)), gamma), delta);
    Int gamma_2 = twice(gamma);
    Int beta_4 = twice(inline_multiply(p.x, gamma_2));
    Int x = minus(minus(inline_square(alpha), beta_4), beta_4);
    Int slope = inline_multiply(alpha, minus(beta_4, x));
    return Jacobian{x, minus(slope, twice(inline_square(gamma_2))), z};
}

struct Sum {
    Jacobian point;
    // Its Z over that of the first point.
    Int ratio;
};

// The sum, if neither point is at infinity and they are not equal. Otherwise Z = 0 comes out, and
// stays whatever is added.
CALLED Sum add_different(Jacobian p, Affine q) {
    Int z_square = inline_square(p.z);
    Int h = minus(inline_multiply(q.x, z_square), p.x);
    Int r = minus(inline_multiply(inline_multiply(q.y, p.z), z_square), p.y);
    Int h_square = inline_square(h);
    Int v = inline_multiply(p.x, h_square);
    Int h_cube = inline_multiply(h, h_square);
    Int x = minus(minus(minus(inline_square(r), h_cube), v), v);
    Int y = minus(inline_multiply(r, minus(v, x)), inline_multiply(p.y, h_cube));
    return Sum{Jacobian{x, y, inline_multiply(p.z, h)}, h};
}

// ---- Scalars as odd signed digits, as `curve/windows.rs` has them.

// Only odd numbers have odd digits; of an even one, n minus it is odd.
DEVICE Int make_odd(const Int &scalar, bool &is_negative) {
    Int opposite;
    subtract(opposite, order(), scalar);
    is_negative = !(scalar.w[0] & 1);
    return select(is_negative, opposite, scalar);
}

// A table of `windows` windows of `bits` bits, of which the first `wider` ones have one more.
struct Source {
    const Affine *table;
    Int scalar;
    u32 bits, wider, windows;
};

// Adds a point of each window; `is_empty` if the sum has none yet.
DEVICE void add_multiples(Jacobian &sum, const Source &source, bool is_empty) {
    bool is_even;
    Int scalar = make_odd(source.scalar, is_even);
    const Affine *table = source.table;
    ROLLED for (u32 window = 0; window < source.windows; window++) {
        u32 bits = source.bits + (window < source.wider);
        u32 low = (scalar.w[0] | 1) & ((1u << bits) - 1);
        // The lowest bit of the next window decides whether this digit is the window's value or
        // 2^bits less.
        bool is_whole = scalar.w[0] >> bits & 1 || window + 1 == source.windows;
        u32 index = (is_whole ? low : (1u << bits) - low) >> 1;
        Affine point = negate_if(load(&table[index]), is_even == is_whole);
        sum = is_empty && window == 0 ? from_affine(point) : add_different(sum, point).point;
        table += 1u << (bits - 1);
        UNROLLED for (int i = 0; i < 7; i++) {
            scalar.w[i] = scalar.w[i] >> bits | scalar.w[i + 1] << (32 - bits);
        }
        scalar.w[7] >>= bits;
    }
}

// ---- Kernels.

// What the host sends: octets, the most significant first, then the key, in Montgomery's form. For a
// key with a table, its first word is the table's number instead.
struct alignas(16) Job {
    u32 digest[8], r[8], s[8];
    Affine key;
};

// What `scalars` leaves for the other kernels.
struct alignas(16) Scalars {
    Int u1, u2, r;
    u32 outcome, unused[7];
};

// Memory that was never written says nothing.
enum Outcome { UNDECIDED = 0, OUT_OF_RANGE = 0x33, VALID = 0x5a, MISMATCH = 0xa5 };

#define G_BITS 16
#define KEY_BITS 5
#define MULTIPLES 8

DEVICE bool is_in_range(const Int &a) {
    Int difference;
    return !is_zero(a) && subtract(difference, a, order()) != 0;
}

// s, or 1 where r or s is out of range (step 1).
DEVICE Int usable_s(const Job &job) {
    Int s = from_octets(job.s);
    bool is_usable = is_in_range(s) && is_in_range(from_octets(job.r));
    return select(is_usable, s, Int{{1}});
}

// u1 = e / s and u2 = r / s of each signature (steps 3 and 4), and what is decided already.
KERNEL scalars(const Job *jobs, Scalars *results, u32 count) {
    SHARED Int tree[2 * BLOCK];
    struct Products {
        Int before[EACH];
    };
    EACH_HAS(Products, products);
    u32 begin = BLOCK_NUMBER * BLOCK * EACH;
    // An integer s stands for s / 2^256 in Montgomery's form; its inverse, too, is off by a factor.
    THREADS(t) {
        Int product = Order::one();
        ROLLED for (u32 k = 0; k < EACH; k++) {
            OWN(products, t).before[k] = product;
            u32 place = begin + k * BLOCK + t;
            if (place < count) product = Order::product(product, usable_s(jobs[place]));
        }
        tree[BLOCK + t] = product;
    }
    invert_leaves<Order>(tree);
    THREADS(t) {
        Int inverse = tree[BLOCK + t];
        ROLLED for (u32 k = EACH; k-- > 0;) {
            u32 place = begin + k * BLOCK + t;
            if (place >= count) continue;
            const Job &job = jobs[place];
            Int own = Order::product(inverse, OWN(products, t).before[k]);
            inverse = Order::product(inverse, usable_s(job));
            own = Order::product(own, Int{{1}});
            Int r = from_octets(job.r);
            Int u1 = Order::product(own, from_octets(job.digest));
            bool is_usable = is_in_range(r) && is_in_range(from_octets(job.s));
            u32 outcome = is_usable ? MISMATCH : OUT_OF_RANGE;
            results[place] = Scalars{u1, Order::product(own, r), r, outcome, {0}};
        }
    }
}

// Whether x, an integer below p, is the x-coordinate of a sum.
DEVICE bool has_x(const Jacobian &sum, const Int &x) {
    const Int r_squared = {{3, 0, ~0u, ~0u - 4, ~0u - 1, ~0u, ~0u - 2, 4}};
    return is_equal(multiply(multiply(x, r_squared), square(sum.z)), sum.x);
}

// Whether the sum's x-coordinate is r modulo n (steps 5 to 7). Where points were equal or opposite,
// which honest signatures never lead to, the host decides.
DEVICE u8 decide(const Jacobian &sum, const Scalars &scalars) {
    Int second, difference;
    bool is_valid = has_x(sum, scalars.r);
    // r + n is a coordinate as well, if it is below p: hardly ever, n is close to p.
    if (add(second, scalars.r, order()) == 0 && subtract(difference, second, prime()) != 0) {
        is_valid |= has_x(sum, second);
    }
    if (scalars.outcome != MISMATCH) return scalars.outcome;
    if (is_zero(sum.z)) return UNDECIDED;
    return is_valid ? VALID : MISMATCH;
}

DEVICE Source of_generator(const Affine *generator, const Scalars &scalars) {
    return Source{generator, scalars.u1, G_BITS, 0, 256 / G_BITS};
}

// Signatures by keys with tables: a sum of 51 + 16 points.
KERNEL verify_with_tables(const Job *jobs, const Scalars *scalars, u8 *outcomes,
                          const Affine *generator, const Affine *tables, u32 count) {
    THREADS(t) {
        u32 place = BLOCK_NUMBER * BLOCK + t;
        if (place < count) {
            const Scalars own = scalars[place];
            const u32 windows = 256 / KEY_BITS, wider = 256 % KEY_BITS;
            u64 points = (u64)(windows + wider) << (KEY_BITS - 1);
            const Affine *table = tables + jobs[place].key.x.w[0] * points;
            Jacobian sum;
            ROLLED for (int part = 0; part < 2; part++) {
                Source source = {table, own.u2, KEY_BITS, wider, windows};
                if (part == 1) source = of_generator(generator, own);
                // A digest that is zero modulo n adds nothing.
                if (part == 0 || !is_zero(source.scalar)) add_multiples(sum, source, part == 0);
            }
            outcomes[place] = decide(sum, own);
        }
    }
}

// A key's multiples: the point times 1, 3, 5, ... 15, and each Z over the one before.
struct Multiples {
    Affine points[MULTIPLES];
    Int ratios[MULTIPLES];
};

// Without their common Z, whose inverse makes them affine.
DEVICE Int multiply_key(Multiples &multiples, const Affine &key) {
    // On an isomorphic curve twice the point has Z = 1: the formulae for additions do not know the
    // curve's coefficients, so that they hold there too. Its Z comes in again at the end.
    Jacobian twice_key = doubled(from_affine(key));
    Affine step = {twice_key.x, twice_key.y};
    Int z_square = square(twice_key.z);
    Jacobian multiple = from_affine(
        Affine{multiply(key.x, z_square), multiply(key.y, multiply(z_square, twice_key.z))});
    multiples.points[0] = Affine{multiple.x, multiple.y};
    ROLLED for (int i = 1; i < MULTIPLES; i++) {
        Sum next = add_different(multiple, step);
        multiple = next.point, multiples.ratios[i] = next.ratio;
        multiples.points[i] = Affine{multiple.x, multiple.y};
    }
    // Not zero: small multiples of a point of large prime order differ.
    return multiply(multiple.z, twice_key.z);
}

DEVICE void make_affine(Multiples &multiples, Int inverse) {
    ROLLED for (int i = MULTIPLES - 1; i >= 0; i--) {
        Affine &point = multiples.points[i];
        Int inverse_square = square(inverse);
        point.x = multiply(point.x, inverse_square);
        point.y = multiply(point.y, multiply(inverse_square, inverse));
        if (i > 0) inverse = multiply(inverse, multiples.ratios[i]);
    }
}

// The scalar times the key: 64 windows of four bits, the most significant first.
DEVICE Jacobian multiply_point(const Multiples &multiples, const Int &scalar) {
    bool is_even;
    Int rest = make_odd(scalar, is_even);
    Jacobian sum = from_affine(negate_if(multiples.points[rest.w[7] >> 29], is_even));
    // From now on, the five topmost bits are the next window below the bit that decides its sign.
    u32 shift = 3;
    ROLLED for (int window = 0; window < 63; window++, shift = 4) {
        UNROLLED for (int i = 7; i > 0; i--) {
            rest.w[i] = rest.w[i] << shift | rest.w[i - 1] >> (32 - shift);
        }
        rest.w[0] <<= shift;
        ROLLED for (int bit = 0; bit < 4; bit++) sum = doubled(sum);
        bool is_whole = rest.w[7] >> 31;
        u32 low = (rest.w[7] >> 27 & 15) | 1;
        u32 index = (is_whole ? low : 16 - low) >> 1;
        Affine point = negate_if(multiples.points[index], is_even == is_whole);
        sum = add_different(sum, point).point;
    }
    return sum;
}

// Signatures by keys without tables.
KERNEL verify_plain(const Job *jobs, const Scalars *scalars, u8 *outcomes,
                    const Affine *generator, u32 count) {
    SHARED Int tree[2 * BLOCK];
    EACH_HAS(Multiples, multiples);
    THREADS(t) {
        u32 place = BLOCK_NUMBER * BLOCK + t;
        tree[BLOCK + t] = field_one();
        if (place < count) tree[BLOCK + t] = multiply_key(OWN(multiples, t), load(&jobs[place].key));
    }
    invert_leaves<Field>(tree);
    THREADS(t) {
        u32 place = BLOCK_NUMBER * BLOCK + t;
        if (place < count) {
            make_affine(OWN(multiples, t), tree[BLOCK + t]);
            const Scalars own = scalars[place];
            Jacobian sum = multiply_point(OWN(multiples, t), own.u2);
            if (!is_zero(own.u1)) add_multiples(sum, of_generator(generator, own), false);
            outcomes[place] = decide(sum, own);
        }
    }
}
