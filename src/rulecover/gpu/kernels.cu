// What is done with rows on a GPU. Leaves are numbered from 0 in each tree. What is put in front of this file defines:
//   Value: float or double, what rows hold; Index: what holds a node's number; Leaf: what holds a leaf's number;
//   Class: what holds a class; Sum: unsigned int for plain rows, double for weighted ones; VOTES: columns of votes.

// Rows are compared by whole numbers in the order of their values: compilers may take the smallest floats for zeros.
__device__ Order in_order(float x) {
    int bits = __float_as_int(x);
    return x != x ? MISSING : (Order)(bits < 0 ? (int)0x80000000 - bits : bits);
}

__device__ Order in_order(double x) {
    long long bits = __double_as_longlong(x);
    return x != x ? MISSING : (Order)(bits < 0 ? (long long)0x8000000000000000 - bits : bits);
}

__device__ double exact(double x) { return x; }

__device__ double exact(float x) {  // the smallest floats too
    int bits = __float_as_int(x), small = bits & 0x007FFFFF;
    if (bits & 0x7F800000) return (double)x;
    return bits < 0 ? -ldexp((double)small, -149) : ldexp((double)small, -149);
}

struct Node {
    Order threshold;
    Index feature;  // twice the place of its column, plus 1 if missing values go left; LEAF for a leaf
    Index child;    // the left child, which the right one follows; for a leaf its number
};

#define LEAF ((Index)-1)

__device__ Order seen(Value x, unsigned char zero_missing) {
    return zero_missing && fabs((double)x) <= ZERO ? MISSING : in_order(x);
}

// A tile of rows, column by column: threads that look at different columns do not wait for each other.
__device__ void load_tile(Order* tile, const Value* X, long long base, long long n, long long row_step,
                          long long column_step, const int* columns, const unsigned char* zero_missing, int width) {
    int rows = blockDim.x;
    for (int k = threadIdx.x; k < rows * width; k += rows) {
        int row = column_step == 1 ? k / width : k % rows, column = column_step == 1 ? k % width : k / rows;
        if (base + row < n) {
            Value x = X[(base + row) * row_step + columns[column] * column_step];
            tile[column * rows + row] = seen(x, zero_missing[column]);
        }
    }
}

__device__ Order value_at(const Order* tile, const Value* X, long long row, int column, long long row_step,
                          long long column_step, const int* columns, const unsigned char* zero_missing) {
    if (tile) return tile[column * blockDim.x + threadIdx.x];
    return seen(X[row * row_step + columns[column] * column_step], zero_missing[column]);
}

// For each tree and row the number of the leaf, trees x rows. Blocks take tiles of rows, and their part of the trees.
extern "C" __global__ void leaves_of_rows(const Value* X, long long n, long long row_step, long long column_step,
                                          const int* columns, const unsigned char* zero_missing, int width, int tiled,
                                          const Node* nodes, const int* first, int n_trees, int held, Leaf* ids) {
    extern __shared__ double memory[];
    Order* tile = tiled ? (Order*)memory : 0;
    Node* kept = (Node*)((char*)memory + (tiled ? (width * blockDim.x * sizeof(Order) + 15) / 16 * 16 : 0));
    for (long long base = (long long)blockIdx.x * blockDim.x; base < n; base += (long long)gridDim.x * blockDim.x) {
        long long row = base + threadIdx.x;
        __syncthreads();
        if (tiled) load_tile(tile, X, base, n, row_step, column_step, columns, zero_missing, width);
        for (int t = blockIdx.y; t < n_trees; t += gridDim.y) {
            const Node* tree = nodes + first[t];
            int size = first[t + 1] - first[t];
            if (size <= held) {
                __syncthreads();
                for (int k = threadIdx.x; k < size; k += blockDim.x) kept[k] = tree[k];
                tree = kept;
            }
            __syncthreads();
            if (row < n) {
                Node at = tree[0];
                while (at.feature != LEAF) {
                    Order x = value_at(tile, X, row, at.feature >> 1, row_step, column_step, columns, zero_missing);
                    bool left = x == MISSING ? at.feature & 1 : x <= at.threshold;
                    at = tree[at.child + (left ? 0 : 1)];
                }
                ids[t * n + row] = (Leaf)at.child;
            }
        }
    }
}

// Per tree the sums of its leaves' classes: in shared memory where they fit.
extern "C" __global__ void class_sums(const Leaf* ids, long long n, const Class* y, const double* weight, int n_classes,
                                      const int* first_leaf, int held, Total* sums) {
    extern __shared__ double memory[];
    Sum* mine = (Sum*)memory;
    int t = blockIdx.y, size = (first_leaf[t + 1] - first_leaf[t]) * n_classes;
    Total* all = sums + (long long)first_leaf[t] * n_classes;
    const Leaf* of_tree = ids + t * n;
    bool here = size <= held;
    if (here) for (int k = threadIdx.x; k < size; k += blockDim.x) mine[k] = 0;
    __syncthreads();
    for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += (long long)gridDim.x * blockDim.x) {
        int k = of_tree[i] * n_classes + y[i];
        Sum add = weight ? (Sum)weight[i] : (Sum)1;
        if (here) atomicAdd(&mine[k], add); else atomicAdd(&all[k], (Total)add);
    }
    __syncthreads();
    if (here) for (int k = threadIdx.x; k < size; k += blockDim.x) if (mine[k]) atomicAdd(&all[k], (Total)mine[k]);
}

// The rows of a leaf need one rule less; those that need none are listed, in whatever order.
extern "C" __global__ void settle(const Leaf* of_tree, long long n, unsigned int leaf, unsigned char* need,
                                  unsigned int* settled, unsigned int* n_settled) {
    long long whole = (n + 31) / 32 * 32, step = (long long)gridDim.x * blockDim.x;
    int lane = threadIdx.x & 31;
    for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < whole; i += step) {
        bool done = i < n && of_tree[i] == leaf && need[i] && --need[i] == 0;
        unsigned int found = __ballot_sync(~0u, done), place = 0;
        if (!found) continue;
        if (lane == 0) place = atomicAdd(n_settled, __popc(found));
        place = __shfl_sync(~0u, place, 0) + __popc(found & ((1u << lane) - 1));
        if (done) settled[place] = (unsigned int)i;
    }
}

// The least rank above `last` that a candidate at a leaf of a row has; NO_RANK if there is none.
#define NO_RANK 0x7fffffff
__device__ int next_rank(const Leaf* ids, long long n, long long i, const int* trees, int n_trees,
                         const int* first_leaf, const int* rank, int last) {
    int least = NO_RANK;
    for (int k = 0; k < n_trees; ++k) {
        int mine = rank[first_leaf[trees[k]] + ids[trees[k] * n + i]];
        if (mine > last && mine < least) least = mine;
    }
    return least;
}

// What candidates gain if they are picked in turn: each row counts for as many as it needs, those of lowest rank.
extern "C" __global__ void gains_in_turn(const Leaf* ids, long long n, const int* trees, int n_trees,
                                         const int* first_leaf, const int* rank, const unsigned char* need,
                                         const double* gain, unsigned int* count, double* weight) {
    for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += (long long)gridDim.x * blockDim.x) {
        int last = -1;
        for (int needed = need[i]; needed; --needed) {
            last = next_rank(ids, n, i, trees, n_trees, first_leaf, rank, last);
            if (last == NO_RANK) break;
            atomicAdd(&count[last], 1u);
            if (gain) atomicAdd(&weight[last], gain[i]);
        }
    }
}

// The same, picked: rows need one leaf less of each. Lists those that need none any more.
extern "C" __global__ void settle_in_turn(const Leaf* ids, long long n, const int* trees, int n_trees,
                                          const int* first_leaf, const int* rank, unsigned char* need,
                                          unsigned int* settled, unsigned int* n_settled) {
    long long whole = (n + 31) / 32 * 32, step = (long long)gridDim.x * blockDim.x;
    int lane = threadIdx.x & 31;
    for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < whole; i += step) {
        int last = -1, needed = i < n ? need[i] : 0, before = needed;
        while (needed) {
            last = next_rank(ids, n, i, trees, n_trees, first_leaf, rank, last);
            if (last == NO_RANK) break;
            --needed;
        }
        if (needed < before) need[i] = needed;
        bool done = before && !needed;
        unsigned int found = __ballot_sync(~0u, done), place = 0;
        if (!found) continue;
        if (lane == 0) place = atomicAdd(n_settled, __popc(found));
        place = __shfl_sync(~0u, place, 0) + __popc(found & ((1u << lane) - 1));
        if (done) settled[place] = (unsigned int)i;
    }
}

// Per leaf of every tree the number and the weight of these rows.
extern "C" __global__ void losses(const Leaf* ids, long long n, const unsigned int* rows, unsigned int m,
                                  const double* weight, const int* first_leaf, int held, Sum* lost) {
    extern __shared__ double memory[];
    Sum* mine = (Sum*)memory;
    int t = blockIdx.y, size = first_leaf[t + 1] - first_leaf[t];
    const Leaf* of_tree = ids + t * n;
    bool here = size <= held;
    if (here) for (int k = threadIdx.x; k < size; k += blockDim.x) mine[k] = 0;
    __syncthreads();
    for (unsigned int i = blockIdx.x * blockDim.x + threadIdx.x; i < m; i += gridDim.x * blockDim.x) {
        unsigned int row = rows[i];
        int k = of_tree[row];
        Sum add = weight ? (Sum)weight[row] : (Sum)1;
        atomicAdd(here ? &mine[k] : &lost[first_leaf[t] + k], add);
    }
    __syncthreads();
    if (here) for (int k = threadIdx.x; k < size; k += blockDim.x) if (mine[k]) atomicAdd(&lost[first_leaf[t] + k], mine[k]);
}

// Whether some row of a leaf is covered by other chosen leaves, of these trees, less often than demanded.
extern "C" __global__ void is_needed(const Leaf* ids, long long n, int tree, unsigned int leaf, const int* trees,
                                     int n_trees, const int* first_leaf, const unsigned char* chosen,
                                     const unsigned char* demand, unsigned int* needed) {
    for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += (long long)gridDim.x * blockDim.x) {
        if (ids[tree * n + i] != leaf) continue;
        int times = 0;
        for (int k = 0; k < n_trees && times < demand[i]; ++k) times += chosen[first_leaf[trees[k]] + ids[trees[k] * n + i]];
        if (times < demand[i]) *needed = 1;
    }
}

// Whether a row satisfies clauses.
__device__ bool satisfies(const Order* tile, const Value* X, long long row, long long row_step, long long column_step,
                          const int* columns, const unsigned char* zero_missing, int from, int to, const int* column,
                          const Order* lower, const Order* upper, const unsigned char* missing) {
    for (int c = from; c < to; ++c) {
        Order x = value_at(tile, X, row, column[c], row_step, column_step, columns, zero_missing);
        if (!(x == MISSING ? missing[c] : lower[c] < x && x <= upper[c])) return false;
    }
    return true;
}

// The rules that cover each row, 64 of them in a word, the first one in its highest bit; words x rows.
extern "C" __global__ void covering_words(const Value* X, long long n, long long row_step, long long column_step,
                                          const int* columns, const unsigned char* zero_missing, int width, int tiled,
                                          const int* offset, const int* column, const Order* lower, const Order* upper,
                                          const unsigned char* missing, int n_rules, unsigned long long* words) {
    extern __shared__ double memory[];
    Order* tile = tiled ? (Order*)memory : 0;
    for (long long first = (long long)blockIdx.x * blockDim.x; first < n; first += (long long)gridDim.x * blockDim.x) {
        long long row = first + threadIdx.x;
        __syncthreads();
        if (tiled) load_tile(tile, X, first, n, row_step, column_step, columns, zero_missing, width);
        __syncthreads();
        if (row >= n) continue;
        unsigned long long word = 0;
        for (int j = 0; j < n_rules; ++j) {
            if (satisfies(tile, X, row, row_step, column_step, columns, zero_missing, offset[j], offset[j + 1], column,
                          lower, upper, missing))
                word |= 1ull << (63 - j % 64);
            if (j % 64 == 63 || j == n_rules - 1) { words[(long long)(j / 64) * n + row] = word; word = 0; }
        }
    }
}

// The base and the votes of the rules that cover each row, and the number of these rules.
extern "C" __global__ void add_votes(const Value* X, long long n, long long row_step, long long column_step,
                                     const int* columns, const unsigned char* zero_missing, int width, int tiled,
                                     const int* offset, const int* column, const Order* lower, const Order* upper,
                                     const unsigned char* missing, int n_rules, const double* votes, const double* base,
                                     double* sums, int* fired) {
    extern __shared__ double memory[];
    Order* tile = tiled ? (Order*)memory : 0;
    for (long long first = (long long)blockIdx.x * blockDim.x; first < n; first += (long long)gridDim.x * blockDim.x) {
        long long row = first + threadIdx.x;
        __syncthreads();
        if (tiled) load_tile(tile, X, first, n, row_step, column_step, columns, zero_missing, width);
        __syncthreads();
        if (row >= n) continue;
        double total[VOTES];
        for (int v = 0; v < VOTES; ++v) total[v] = 0;
        int count = 0;
        for (int j = 0; j < n_rules; ++j) {
            if (!satisfies(tile, X, row, row_step, column_step, columns, zero_missing, offset[j], offset[j + 1], column,
                           lower, upper, missing))
                continue;
            ++count;
            for (int v = 0; v < VOTES; ++v) total[v] += votes[j * VOTES + v];
        }
        for (int v = 0; v < VOTES; ++v) sums[row * VOTES + v] = total[v] + base[v];
        fired[row] = count;
    }
}

__device__ unsigned long long mixed(unsigned long long bits) {  // the finaliser of SplitMix64
    bits = (bits ^ (bits >> 30)) * 0xBF58476D1CE4E5B9ull;
    bits = (bits ^ (bits >> 27)) * 0x94D049BB133111EBull;
    return bits ^ (bits >> 31);
}

// The hash of each row, added up, and those below a limit, in whatever order: see rulecover.data.fingerprint.
extern "C" __global__ void row_hashes(const Value* X, long long n, long long row_step, long long column_step,
                                      const int* columns, const unsigned long long* seeds, int width, const Class* y,
                                      const unsigned long long* of_class, unsigned long long limit, unsigned int room,
                                      unsigned long long* digest, unsigned long long* small, unsigned int* n_small) {
    unsigned long long total = 0;
    for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += (long long)gridDim.x * blockDim.x) {
        unsigned long long sum = of_class[y[i]];
        for (int c = 0; c < width; ++c) {
            double x = exact(X[i * row_step + columns[c] * column_step]) + 0.0;  // without -0
            unsigned long long bits = x != x ? 0x7FF8000000000000ull : (unsigned long long)__double_as_longlong(x);
            sum += mixed(bits ^ seeds[c]);
        }
        unsigned long long hash = mixed(sum);
        total += hash;
        if (hash < limit) {
            unsigned int place = atomicAdd(n_small, 1u);
            if (place < room) small[place] = hash;
        }
    }
    atomicAdd(digest, total);
}

// Of the values of a column between two neighbouring bounds the least and the largest; whether one is missing, and one
// with a fraction, if there is one.
extern "C" __global__ void column_facts(const Value* X, long long n, long long row_step, const double* bounds,
                                        int n_bounds, long long* least, long long* largest,
                                        unsigned int* missing, double* fraction) {
    for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += (long long)gridDim.x * blockDim.x) {
        double x = exact(X[i * row_step]);
        if (x != x) { *missing = 1; continue; }
        if (*fraction != *fraction && x != floor(x)) *fraction = x;
        int from = 0, to = n_bounds;
        while (from < to) { int middle = (from + to) / 2; if (bounds[middle] < x) from = middle + 1; else to = middle; }
        long long bits = __double_as_longlong(x), mine = bits < 0 ? (long long)0x8000000000000000 - bits : bits;
        if (mine < least[from]) atomicMin(&least[from], mine);
        if (mine > largest[from]) atomicMax(&largest[from], mine);
    }
}
