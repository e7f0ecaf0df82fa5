// The misfit with a local buffer.

template <typename T, usz n>
void loss(enzyme::tensor<T>& value, const enzyme::tensor<T, n>& theta, const enzyme::tensor<T, n>& y) {
  T buffer[n];
  for (usz i = 0; i < n; i++) buffer[i] = theta[i] * theta[i] * __builtin_sin(theta[i]);
  T sum = 0;
  for (usz i = 0; i < n; i++) sum += (buffer[i] - y[i]) * (buffer[i] - y[i]);
  value() = sum;
}
