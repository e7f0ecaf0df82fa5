template <typename T, typename P>
void step(T& x, T& y, const P& p, T h) {
  const T a = p[0] * x - p[1] * x * y, A = p[2] * x * y - p[3] * y;
  T u = x + h / 2 * a, v = y + h / 2 * A;
  const T b = p[0] * u - p[1] * u * v, B = p[2] * u * v - p[3] * v;
  u = x + h / 2 * b, v = y + h / 2 * B;
  const T c = p[0] * u - p[1] * u * v, C = p[2] * u * v - p[3] * v;
  u = x + h * c, v = y + h * C;
  const T d = p[0] * u - p[1] * u * v, D = p[2] * u * v - p[3] * v;
  x += h / 6 * (a + 2 * b + 2 * c + d);
  y += h / 6 * (A + 2 * B + 2 * C + D);
}

// n is deduced from `observed`, which is 2 × n in C order.
template <usz K, typename T, usz n>
void misfit(enzyme::tensor<T>& loss, const enzyme::tensor<T, 4>& p,
            const enzyme::tensor<T, 2>& start, const enzyme::tensor<T>& interval,
            const enzyme::tensor<T, 2, n>& observed) {
  T x = start[0], y = start[1], sum = 0;
  const T h = interval() / K;
  for (usz t = 0; t < n; t++) {
    for (usz k = 0; k < K; k++) step(x, y, p, h);
    const T left = x - observed[0][t], right = y - observed[1][t];
    sum += left * left + right * right;
  }
  loss() = sum;
}
