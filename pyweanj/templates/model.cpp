// NAME in C++.  The gradient is Enzyme's.  The loss comes first, then the arguments in order, in
// C order and counted from 0; T and n are deduced.  There are no system headers: __builtin_tanh.

template <typename T, usz n>
void loss(enzyme::tensor<T>& loss, const enzyme::tensor<T, 3>& w, const enzyme::tensor<T, n, 3>& A,
          const enzyme::tensor<T, n>& b) {
  T total = 0;
  for (usz i = 0; i < n; i++) {
    T s = 0;
    for (usz j = 0; j < 3; j++) s += A[i][j] * w[j];
    const T difference = __builtin_tanh(s) - b[i];
    total += difference * difference;
  }
  loss() = total;
}
