// u[i] = e[i] * u[i + 1], ascending, K times: in one buffer, and in two.

template <usz K, typename T, usz n>
void in_place(enzyme::tensor<T>& loss, const enzyme::tensor<T, n>& e, const enzyme::tensor<T, n>& u0) {
  T *u = (T *) __builtin_malloc(sizeof(T) * n);
  for (usz i = 0; i < n; i++) u[i] = u0[i];
  for (usz k = 0; k < K; k++)
    for (usz i = 0; i + 1 < n; i++) u[i] = e[i] * u[i + 1];
  T sum = 0;
  for (usz i = 0; i < n; i++) sum += u[i] * u[i];
  __builtin_free(u);
  loss() = sum;
}

template <usz K, typename T, usz n>
void two_buffers(enzyme::tensor<T>& loss, const enzyme::tensor<T, n>& e, const enzyme::tensor<T, n>& u0) {
  // Sweep k reads row k and writes row k + 1.
  T (*u)[n] = (T (*)[n]) __builtin_malloc(sizeof(T) * (K + 1) * n);
  for (usz i = 0; i < n; i++) u[0][i] = u0[i];
  for (usz k = 0; k < K; k++) {
    for (usz i = 0; i + 1 < n; i++) u[k + 1][i] = e[i] * u[k][i + 1];
    u[k + 1][n - 1] = u[k][n - 1];
  }
  T sum = 0;
  for (usz i = 0; i < n; i++) sum += u[K][i] * u[K][i];
  __builtin_free(u);
  loss() = sum;
}
