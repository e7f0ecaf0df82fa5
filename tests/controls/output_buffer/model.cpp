// Lexicographic sweeps, row by row, with the working array local or given by the caller.

template <usz K, typename U, typename T, usz m, usz n>
T sweeps(U& u, const enzyme::tensor<T, m, n>& theta, const enzyme::tensor<T, m, n>& uobs) {
  const T h2 = T(1) / T((m + 1) * (m + 1));
  for (usz i = 0; i < m + 2; i++)
    for (usz j = 0; j < n + 2; j++) u[i][j] = 0;
  for (usz k = 0; k < K; k++)
    for (usz i = 1; i <= m; i++)
      for (usz j = 1; j <= n; j++)
        u[i][j] = (h2 * theta[i - 1][j - 1] + u[i - 1][j] + u[i + 1][j] + u[i][j - 1] + u[i][j + 1]) / 4;
  T sum = 0;
  for (usz i = 0; i < m; i++)
    for (usz j = 0; j < n; j++) {
      const T difference = u[i + 1][j + 1] - uobs[i][j];
      sum += difference * difference;
    }
  return sum;
}

template <usz K, typename T, usz m, usz n>
void u_local(enzyme::tensor<T>& loss, const enzyme::tensor<T, m, n>& theta,
             const enzyme::tensor<T, m, n>& uobs) {
  T u[m + 2][n + 2];
  loss() = sweeps<K>(u, theta, uobs);
}

template <usz K, typename T, usz m, usz n>
void u_as_output(enzyme::tensor<T>& loss, enzyme::tensor<T, m + 2, n + 2>& u,
                 const enzyme::tensor<T, m, n>& theta, const enzyme::tensor<T, m, n>& uobs) {
  loss() = sweeps<K>(u, theta, uobs);
}
