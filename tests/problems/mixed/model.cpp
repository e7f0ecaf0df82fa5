// Integers and booleans arrive as T.
template <usz K, typename T, usz n>
void loss(enzyme::tensor<T>& loss, const enzyme::tensor<T>& a, const enzyme::tensor<T, 3>& v,
          const enzyme::tensor<T, n, 3>& M, const enzyme::tensor<T, 2, 4>& B,
          const enzyme::tensor<T, n>& t, const enzyme::tensor<T, n>& y,
          const enzyme::tensor<T, n>& k, const enzyme::tensor<T, n>& used,
          const enzyme::tensor<T>& times) {
  T total = 0;
  for (usz i = 0; i < n; i++) {
    T s = 0;
    for (usz j = 0; j < 3; j++) s += M[i][j] * v[j];
    const T left = __builtin_exp(-a() * t[i]) * s + (k[i] > T(0.5) ? B[1][0] : B[0][0]) - y[i];
    if (used[i] > T(0.5)) total += left * left;
  }
  loss() = T(K) * times() * total;
}
