// Complex arrays cannot be passed to C++: see what the row says.
void loss();
