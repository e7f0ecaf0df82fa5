# 02-gauss-seidel in Julia: one loss a variant, called with (theta, uobs, K), and by the name
# of `gradients` in example.py a gradient written by hand.  These come with the package WEANJ;
# a model may as well define its functions here.

using WEANJ.GaussSeidel: gs_loss, rb_gradient, rb_loops_loss, rb_loss
