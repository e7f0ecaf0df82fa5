// Gauss–Seidel as plain in-place loops; conventions: pyweanj/systems/enzyme_cpp.py.
// Arrays come in C order, theta[i][j].

template <typename T, usz n>
using Matrix = enzyme::tensor<T, n, n>;

// Lexicographic: i fastest, then j, so that u[j][i] uses the new u[j][i-1] and u[j-1][i].
// u and f are stored with i contiguous, in the order of the sweep.
template <usz K, typename T, usz n>
void gs_loss(enzyme::tensor<T>& loss, const Matrix<T, n>& theta, const Matrix<T, n>& uobs) {
  const T h2 = T(1) / T((n + 1) * (n + 1));
  T (*u)[n + 2] = (T (*)[n + 2]) __builtin_malloc(sizeof(T) * (n + 2) * (n + 2));
  T (*f)[n] = (T (*)[n]) __builtin_malloc(sizeof(T) * n * n);
  for (usz j = 0; j < n + 2; j++)
    for (usz i = 0; i < n + 2; i++) u[j][i] = 0;
  for (usz j = 0; j < n; j++)
    for (usz i = 0; i < n; i++) f[j][i] = theta[i][j];
  for (usz k = 0; k < K; k++)
    for (usz j = 1; j <= n; j++)
      for (usz i = 1; i <= n; i++)
        u[j][i] = (h2 * f[j - 1][i - 1] + u[j][i - 1] + u[j][i + 1] + u[j - 1][i] + u[j + 1][i]) / 4;
  T sum = 0;
  for (usz j = 0; j < n; j++)
    for (usz i = 0; i < n; i++) {
      const T difference = u[j + 1][i + 1] - uobs[i][j];
      sum += difference * difference;
    }
  __builtin_free(f);
  __builtin_free(u);
  loss() = sum;
}

// Red-black: all points with even i + j (1-based, in the haloed grid), then all others.
// Points of one colour are independent, so that u may be stored as theta is.
template <usz K, typename T, usz n>
void rb_loss(enzyme::tensor<T>& loss, const Matrix<T, n>& theta, const Matrix<T, n>& uobs) {
  const T h2 = T(1) / T((n + 1) * (n + 1));
  T (*u)[n + 2] = (T (*)[n + 2]) __builtin_malloc(sizeof(T) * (n + 2) * (n + 2));
  for (usz i = 0; i < n + 2; i++)
    for (usz j = 0; j < n + 2; j++) u[i][j] = 0;
  for (usz k = 0; k < K; k++)
    for (usz colour = 0; colour < 2; colour++)
      for (usz i = 1; i <= n; i++)
        for (usz j = 1 + (i + 1 + colour) % 2; j <= n; j += 2)
          u[i][j] = (h2 * theta[i - 1][j - 1] + u[i - 1][j] + u[i + 1][j] + u[i][j - 1] + u[i][j + 1]) / 4;
  T sum = 0;
  for (usz i = 0; i < n; i++)
    for (usz j = 0; j < n; j++) {
      const T difference = u[i + 1][j + 1] - uobs[i][j];
      sum += difference * difference;
    }
  __builtin_free(u);
  loss() = sum;
}

// Adjoints by hand: the limit that differentiated code is held against.  With u = S theta and
// r = 2 (u - uobs) the gradient is S^T r, and S^T is K sweeps with source r in the reverse
// order (derived at gs_hyperplane_gradient in model.py): h2 s after the last of them.
template <usz K, typename T, usz n>
void gs_gradient(Matrix<T, n>& dtheta, const Matrix<T, n>& theta, const Matrix<T, n>& uobs) {
  const T h2 = T(1) / T((n + 1) * (n + 1));
  T (*u)[n + 2] = (T (*)[n + 2]) __builtin_malloc(sizeof(T) * (n + 2) * (n + 2));
  T (*f)[n] = (T (*)[n]) __builtin_malloc(sizeof(T) * n * n);
  for (usz j = 0; j < n + 2; j++)
    for (usz i = 0; i < n + 2; i++) u[j][i] = 0;
  for (usz j = 0; j < n; j++)
    for (usz i = 0; i < n; i++) f[j][i] = theta[i][j];
  for (usz k = 0; k < K; k++)
    for (usz j = 1; j <= n; j++)
      for (usz i = 1; i <= n; i++)
        u[j][i] = (h2 * f[j - 1][i - 1] + u[j][i - 1] + u[j][i + 1] + u[j - 1][i] + u[j + 1][i]) / 4;
  for (usz j = 0; j < n; j++)
    for (usz i = 0; i < n; i++) {
      f[j][i] = 2 * (u[j + 1][i + 1] - uobs[i][j]);
      u[j + 1][i + 1] = 0;
    }
  for (usz k = 0; k < K; k++)
    for (usz j = n; j >= 1; j--)
      for (usz i = n; i >= 1; i--)  // the value just computed comes last: the chain is short
        u[j][i] = (f[j - 1][i - 1] + u[j][i - 1] + u[j - 1][i] + u[j + 1][i] + u[j][i + 1]) / 4;
  for (usz j = 0; j < n; j++)
    for (usz i = 0; i < n; i++) dtheta[i][j] = h2 * u[j + 1][i + 1];
  __builtin_free(f);
  __builtin_free(u);
}

template <usz K, typename T, usz n>
void rb_gradient(Matrix<T, n>& dtheta, const Matrix<T, n>& theta, const Matrix<T, n>& uobs) {
  const T h2 = T(1) / T((n + 1) * (n + 1));
  T (*u)[n + 2] = (T (*)[n + 2]) __builtin_malloc(sizeof(T) * (n + 2) * (n + 2));
  T (*r)[n] = (T (*)[n]) __builtin_malloc(sizeof(T) * n * n);
  for (usz i = 0; i < n + 2; i++)
    for (usz j = 0; j < n + 2; j++) u[i][j] = 0;
  for (usz k = 0; k < K; k++)
    for (usz colour = 0; colour < 2; colour++)
      for (usz i = 1; i <= n; i++)
        for (usz j = 1 + (i + 1 + colour) % 2; j <= n; j += 2)
          u[i][j] = (h2 * theta[i - 1][j - 1] + u[i - 1][j] + u[i + 1][j] + u[i][j - 1] + u[i][j + 1]) / 4;
  for (usz i = 0; i < n; i++)
    for (usz j = 0; j < n; j++) {
      r[i][j] = 2 * (u[i + 1][j + 1] - uobs[i][j]);
      u[i + 1][j + 1] = 0;
    }
  for (usz k = 0; k < K; k++)
    for (usz colour = 2; colour-- > 0;)
      for (usz i = 1; i <= n; i++)
        for (usz j = 1 + (i + 1 + colour) % 2; j <= n; j += 2)
          u[i][j] = (r[i - 1][j - 1] + u[i - 1][j] + u[i + 1][j] + u[i][j - 1] + u[i][j + 1]) / 4;
  for (usz i = 0; i < n; i++)
    for (usz j = 0; j < n; j++) dtheta[i][j] = h2 * u[i + 1][j + 1];
  __builtin_free(r);
  __builtin_free(u);
}
